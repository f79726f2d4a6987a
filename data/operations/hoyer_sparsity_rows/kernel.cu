#include <cstdio>
#include <cuda_runtime.h>

const int ROWS = 64;
const int COLS = 500;
const int WARPS = 8;

__global__ void hoyer_warp(const float* __restrict__ x, float* __restrict__ sparsity, int* __restrict__ zeros) {
    int lane = threadIdx.x;
    // The warps of the grid stride over the rows.
    for (int r = blockIdx.x * WARPS + threadIdx.y; r < ROWS; r += gridDim.x * WARPS) {
        const float* row = x + (size_t)r * COLS;
        float a = 0.0f, q = 0.0f;
        int count = 0;
        for (int c = lane; c < COLS; c += 32) {
            float v = row[c];
            a += fabsf(v);
            q = fmaf(v, v, q);
            count += v == 0.0f;
        }
        for (int s = 16; s > 0; s >>= 1) {
            a += __shfl_xor_sync(0xffffffffu, a, s);
            q += __shfl_xor_sync(0xffffffffu, q, s);
            count += __shfl_xor_sync(0xffffffffu, count, s);
        }
        if (lane == 0) {
            float root = sqrtf((float)COLS);
            sparsity[r] = q > 0.0f ? (root - a * rsqrtf(q)) / (root - 1.0f) : 1.0f;
            zeros[r] = count;
        }
    }
}

int main() {
    const size_t size = (size_t)ROWS * COLS;
    float* x;
    float* sparsity;
    int* zeros;
    cudaMallocManaged(&x, size * sizeof(float));
    cudaMallocManaged(&sparsity, ROWS * sizeof(float));
    cudaMallocManaged(&zeros, ROWS * sizeof(int));

    FILE* fp = fopen("data/x.bin", "rb");
    if (!fp || fread(x, sizeof(float), size, fp) != size) {
        fprintf(stderr, "data/x.bin missing or short\n");
        return 1;
    }
    fclose(fp);

    int wanted = (ROWS + WARPS - 1) / WARPS;
    int blocks = wanted < 512 ? wanted : 512;
    hoyer_warp<<<blocks, dim3(32, WARPS)>>>(x, sparsity, zeros);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_sparsity = fopen("data/sparsity.bin", "wb");
    fwrite(sparsity, sizeof(float), ROWS, out_sparsity);
    fclose(out_sparsity);
    FILE* out_zeros = fopen("data/zeros.bin", "wb");
    fwrite(zeros, sizeof(int), ROWS, out_zeros);
    fclose(out_zeros);

    cudaFree(x);
    cudaFree(sparsity);
    cudaFree(zeros);
    return 0;
}
