#include <cstdio>
#include <cuda_runtime.h>

#define ROWS 50
#define COLS 99

__global__ void complex_rows(const float2* __restrict__ a, const float2* __restrict__ x, float2* __restrict__ y) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= ROWS) return;
    float2 sum = make_float2(0.0f, 0.0f);
    for (int j = lane; j < COLS; j += 32) {
        const float2 m = a[(size_t)row * COLS + j];
        const float2 v = x[j];
        sum.x = fmaf(m.x, v.x, fmaf(m.y, v.y, sum.x));
        sum.y = fmaf(m.y, v.x, fmaf(-m.x, v.y, sum.y));
    }
    for (int s = 16; s > 0; s >>= 1) {
        sum.x += __shfl_down_sync(0xffffffffu, sum.x, s);
        sum.y += __shfl_down_sync(0xffffffffu, sum.y, s);
    }
    if (lane == 0) y[row] = sum;
}

int main() {
    const size_t a_size = (size_t)ROWS * COLS * 2;
    const size_t x_size = (size_t)COLS * 2;
    const size_t y_size = (size_t)ROWS * 2;
    float *a, *x, *y;
    cudaMallocManaged(&a, a_size * sizeof(float));
    cudaMallocManaged(&x, x_size * sizeof(float));
    cudaMallocManaged(&y, y_size * sizeof(float));

    FILE* file_a = fopen("data/a.bin", "rb");
    if (!file_a || fread(a, 1, a_size * sizeof(float), file_a) != a_size * sizeof(float)) {
        fprintf(stderr, "data/a.bin?\n");
        return 1;
    }
    fclose(file_a);
    FILE* file_x = fopen("data/x.bin", "rb");
    if (!file_x || fread(x, 1, x_size * sizeof(float), file_x) != x_size * sizeof(float)) {
        fprintf(stderr, "data/x.bin?\n");
        return 1;
    }
    fclose(file_x);

    complex_rows<<<(ROWS + 7) / 8, 256>>>((const float2*)a, (const float2*)x, (float2*)y);
    cudaDeviceSynchronize();

    FILE* out_y = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), y_size, out_y);
    fclose(out_y);

    cudaFree(a);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
