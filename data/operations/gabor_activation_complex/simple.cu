#include <cuda_runtime.h>
#include <cstdio>

#define ROWS 30
#define COLS 500

__global__ void gabor(const float* x, const float* omega, const float* scale, float* real, float* imag, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = i % COLS;
        float v = x[i];
        float s = scale[c] * v;
        float envelope = expf(-s * s);
        real[i] = envelope * cosf(omega[c] * v);
        imag[i] = envelope * sinf(omega[c] * v);
    }
}

static bool fill_from(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    const int n = ROWS * COLS;
    float *x, *omega, *scale, *real, *imag;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&omega, COLS * sizeof(float));
    cudaMallocManaged(&scale, COLS * sizeof(float));
    cudaMallocManaged(&real, n * sizeof(float));
    cudaMallocManaged(&imag, n * sizeof(float));

    if (!fill_from("data/x.bin", x, n * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!fill_from("data/omega.bin", omega, COLS * sizeof(float))) {
        fprintf(stderr, "cannot read data/omega.bin\n");
        return 1;
    }
    if (!fill_from("data/scale.bin", scale, COLS * sizeof(float))) {
        fprintf(stderr, "cannot read data/scale.bin\n");
        return 1;
    }

    const int block = 256;
    gabor<<<(n + block - 1) / block, block>>>(x, omega, scale, real, imag, n);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_real = fopen("data/real.bin", "wb");
    fwrite(real, sizeof(float), n, out_real);
    fclose(out_real);
    FILE* out_imag = fopen("data/imag.bin", "wb");
    fwrite(imag, sizeof(float), n, out_imag);
    fclose(out_imag);

    cudaFree(x);
    cudaFree(omega);
    cudaFree(scale);
    cudaFree(real);
    cudaFree(imag);
    return 0;
}
