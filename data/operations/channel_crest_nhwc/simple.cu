#include <cuda_runtime.h>
#include <cstdio>

const int BATCH = 3;
const int HEIGHT = 20;
const int WIDTH = 24;
const int CHANNELS = 16;
const int PIXELS = HEIGHT * WIDTH;

__global__ void rms_crest(const float* x, float* rms, float* crest) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (k >= CHANNELS) return;
    const float* image = x + (size_t)b * PIXELS * CHANNELS;
    float sum = 0.0f;
    float top = 0.0f;
    for (int p = 0; p < PIXELS; ++p) {
        float v = image[(size_t)p * CHANNELS + k];
        sum += v * v;
        top = fmaxf(top, fabsf(v));
    }
    float root = sqrtf(sum / PIXELS);
    rms[b * CHANNELS + k] = root;
    crest[b * CHANNELS + k] = top > 0.0f ? top / root : 0.0f;
}

int main() {
    const size_t x_size = (size_t)BATCH * HEIGHT * WIDTH * CHANNELS;
    const size_t n_rms = (size_t)BATCH * CHANNELS;
    float* x;
    float* rms;
    float* crest;
    cudaMallocManaged(&x, x_size * sizeof(float));
    cudaMallocManaged(&rms, n_rms * sizeof(float));
    cudaMallocManaged(&crest, n_rms * sizeof(float));

    FILE* fp = fopen("data/x.bin", "rb");
    if (!fp || fread(x, sizeof(float), x_size, fp) != x_size) {
        fprintf(stderr, "data/x.bin missing or short\n");
        return 1;
    }
    fclose(fp);

    dim3 grid((CHANNELS - 1) / 64 + 1, BATCH);
    rms_crest<<<grid, 64>>>(x, rms, crest);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_rms = fopen("data/rms.bin", "wb");
    fwrite(rms, sizeof(float), n_rms, out_rms);
    fclose(out_rms);
    FILE* out_crest = fopen("data/crest.bin", "wb");
    fwrite(crest, sizeof(float), n_rms, out_crest);
    fclose(out_crest);

    cudaFree(x);
    cudaFree(rms);
    cudaFree(crest);
    return 0;
}
