#include <cstdio>
#include <cuda_runtime.h>

const int ROWS = 90;
const int COLS = 130;

__device__ float derivative(const float* f, int i, int n, int stride, float h) {
    float inv = 0.5f / h;
    if (i == 0) return (-3.0f * f[0] + 4.0f * f[stride] - f[2 * stride]) * inv;
    if (i == n - 1) return (3.0f * f[0] - 4.0f * f[-stride] + f[-2 * stride]) * inv;
    return (f[stride] - f[-stride]) * inv;
}

__global__ void gradient(const float* f, float* gx, float* gy) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= COLS || r >= ROWS) return;
    int i = r * COLS + c;
    gx[i] = derivative(f + i, c, COLS, 1, 0.5f);
    gy[i] = derivative(f + i, r, ROWS, COLS, 0.25f);
}

int main() {
    const int count = ROWS * COLS;
    float *field, *grad_x, *grad_y;
    cudaMallocManaged(&field, count * sizeof(float));
    cudaMallocManaged(&grad_x, count * sizeof(float));
    cudaMallocManaged(&grad_y, count * sizeof(float));

    FILE* f = fopen("data/field.bin", "rb");
    if (!f || fread(field, sizeof(float), count, f) != (size_t)count) {
        fprintf(stderr, "data/field.bin?\n");
        return 1;
    }
    fclose(f);

    dim3 block(32, 8);
    dim3 grid((COLS + 31) / 32, (ROWS + 7) / 8);
    gradient<<<grid, block>>>(field, grad_x, grad_y);
    cudaDeviceSynchronize();

    FILE* o0 = fopen("data/grad_x.bin", "wb");
    fwrite(grad_x, sizeof(float), count, o0);
    fclose(o0);
    FILE* o1 = fopen("data/grad_y.bin", "wb");
    fwrite(grad_y, sizeof(float), count, o1);
    fclose(o1);
    cudaFree(field);
    cudaFree(grad_x);
    cudaFree(grad_y);
    return 0;
}
