#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

#define BATCH 2
#define CHANNELS 3
#define HEIGHT 60
#define WIDTH 50
#define OUT_H ((HEIGHT + 1) / 2)
#define OUT_W ((WIDTH + 1) / 2)

__global__ void mixed_pool(const float* x, const float* gate, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= BATCH * CHANNELS * OUT_H * OUT_W) return;
    int j = k % OUT_W;
    int i = k / OUT_W % OUT_H;
    int plane = k / (OUT_W * OUT_H);
    const float* p = x + (size_t)plane * HEIGHT * WIDTH;
    float top = -INFINITY, sum = 0.0f;
    int count = 0;
    for (int r = max(2 * i - 1, 0); r <= min(2 * i + 1, HEIGHT - 1); ++r) {
        for (int c = max(2 * j - 1, 0); c <= min(2 * j + 1, WIDTH - 1); ++c) {
            float v = p[r * WIDTH + c];
            top = fmaxf(top, v);
            sum += v;
            ++count;
        }
    }
    float g = gate[plane % CHANNELS];
    y[k] = g * top + (1.0f - g) * (sum / count);
}

int main() {
    const size_t xSize = BATCH * CHANNELS * HEIGHT * WIDTH;
    const size_t ySize = BATCH * CHANNELS * ((HEIGHT + 1) / 2) * ((WIDTH + 1) / 2);
    float *x, *gate, *y;
    cudaMallocManaged(&x, xSize * sizeof(float));
    cudaMallocManaged(&gate, CHANNELS * sizeof(float));
    cudaMallocManaged(&y, ySize * sizeof(float));

    FILE* f = fopen("data/x.bin", "rb");
    if (f == NULL || fread(x, sizeof(float), xSize, f) != xSize) {
        fprintf(stderr, "bad input: data/x.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/gate.bin", "rb");
    if (f == NULL || fread(gate, sizeof(float), CHANNELS, f) != (size_t)CHANNELS) {
        fprintf(stderr, "bad input: data/gate.bin\n");
        return 1;
    }
    fclose(f);

    const int outputs = BATCH * CHANNELS * OUT_H * OUT_W;
    mixed_pool<<<(outputs + 256 - 1) / 256, 256>>>(x, gate, y);
    cudaDeviceSynchronize();

    FILE* out = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), ySize, out);
    fclose(out);
    cudaFree(x);
    cudaFree(gate);
    cudaFree(y);
    return 0;
}
