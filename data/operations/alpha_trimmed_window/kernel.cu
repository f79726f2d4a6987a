#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define HEIGHT 60
#define WIDTH 110
#define TRIM 2

#define CK(x) { cudaError_t status = (x); \
    if (status != cudaSuccess) { printf("%s failed: %s\n", #x, cudaGetErrorString(status)); exit(1); } }

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

constexpr int BX = 32;
constexpr int BY = 8;

// No sorting: a value stays if its rank in the window, ties broken by position, lies between the trimmed ends.
__global__ void trimmed_by_rank(const float* __restrict__ noisy, float* __restrict__ cleaned) {
    __shared__ float t[BY + 2][BX + 2];
    for (int j = threadIdx.y; j < BY + 2; j += BY)
        for (int i = threadIdx.x; i < BX + 2; i += BX) {
            int gy = min(max((int)(blockIdx.y * BY) + j - 1, 0), HEIGHT - 1);
            int gx = min(max((int)(blockIdx.x * BX) + i - 1, 0), WIDTH - 1);
            t[j][i] = noisy[(size_t)gy * WIDTH + gx];
        }
    __syncthreads();
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float v[9], sum = 0.0f;
    for (int k = 0; k < 9; ++k) v[k] = t[threadIdx.y + k / 3][threadIdx.x + k % 3];
    for (int k = 0; k < 9; ++k) {
        int rank = 0;
        for (int m = 0; m < 9; ++m) rank += v[m] < v[k] || (v[m] == v[k] && m < k);
        if (rank >= TRIM && rank < 9 - TRIM) sum += v[k];
    }
    cleaned[(size_t)y * WIDTH + x] = sum * (1.0f / (9 - 2 * TRIM));
}

int main() {
    const int count = HEIGHT * WIDTH;
    float* h_noisy = (float*)malloc(count * sizeof(float));
    float* h_cleaned = (float*)malloc(count * sizeof(float));

    read_file("data/noisy.bin", h_noisy, count * sizeof(float));

    float* d_noisy;
    float* d_cleaned;
    CK(cudaMalloc((void**)&d_noisy, count * sizeof(float)));
    CK(cudaMalloc(&d_cleaned, count * sizeof(float)));
    CK(cudaMemcpy(d_noisy, h_noisy, count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(BX, BY);
    dim3 grid((WIDTH + BX - 1) / BX, (HEIGHT + BY - 1) / BY);
    trimmed_by_rank<<<grid, block>>>(d_noisy, d_cleaned);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());

    CK(cudaMemcpy(h_cleaned, d_cleaned, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* fo = fopen("data/cleaned.bin", "wb");
    if (!fo || fwrite(h_cleaned, sizeof(float), count, fo) != (size_t)count) {
        fprintf(stderr, "could not write data/cleaned.bin\n");
        return 1;
    }
    fclose(fo);

    free(h_noisy);
    free(h_cleaned);
    cudaFree(d_noisy);
    cudaFree(d_cleaned);
    return 0;
}
