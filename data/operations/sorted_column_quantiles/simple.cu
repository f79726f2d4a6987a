#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_bin(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void save_bin(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

const int ROWS = 50;
const int COLS = 200;
const int QUANTILES = 9;

static int ceilDiv(int a, int b) { return (a + b - 1) / b; }

__device__ float quantile(const float* table, int col, float p) {
    float h = p * (ROWS - 1);
    int k = (int)floorf(h);
    float low = table[(size_t)k * COLS + col];
    if (k >= ROWS - 1) return low;
    float high = table[(size_t)(k + 1) * COLS + col];
    return low + (h - k) * (high - low);
}

__global__ void column_quantiles(const float* table, const float* levels, float* result) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y;
    if (c < COLS) result[(size_t)q * COLS + c] = quantile(table, c, levels[q]);
}

__global__ void column_spread(const float* table, float* spread) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < COLS) spread[c] = quantile(table, c, 0.75f) - quantile(table, c, 0.25f);
}

int main() {
    const size_t table_count = ROWS * COLS;
    const size_t result_count = QUANTILES * COLS;
    const size_t bytes_table = table_count * sizeof(float);
    const size_t bytes_levels = QUANTILES * sizeof(float);
    const size_t bytes_result = result_count * sizeof(float);
    const size_t bytes_spread = COLS * sizeof(float);
    float* h_table = (float*)malloc(bytes_table);
    float* h_levels = (float*)malloc(bytes_levels);
    float* h_result = (float*)malloc(bytes_result);
    float* h_spread = (float*)malloc(bytes_spread);
    load_bin("data/table.bin", h_table, bytes_table);
    load_bin("data/levels.bin", h_levels, bytes_levels);

    float *d_table, *d_levels, *d_result, *d_spread;
    cudaMalloc(&d_table, bytes_table);
    cudaMalloc(&d_levels, bytes_levels);
    cudaMalloc(&d_result, bytes_result);
    cudaMalloc(&d_spread, bytes_spread);
    cudaMemcpy(d_table, h_table, bytes_table, cudaMemcpyHostToDevice);
    cudaMemcpy(d_levels, h_levels, bytes_levels, cudaMemcpyHostToDevice);

    const int block = 256;
    const int blocks = ceilDiv(COLS, block);
    column_quantiles<<<dim3(blocks, QUANTILES), block>>>(d_table, d_levels, d_result);
    column_spread<<<blocks, block>>>(d_table, d_spread);

    cudaMemcpy(h_result, d_result, bytes_result, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_spread, d_spread, bytes_spread, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    save_bin("data/result.bin", h_result, bytes_result);
    save_bin("data/spread.bin", h_spread, bytes_spread);

    cudaFree(d_table);
    cudaFree(d_levels);
    cudaFree(d_result);
    cudaFree(d_spread);
    free(h_table);
    free(h_levels);
    free(h_result);
    free(h_spread);
    return 0;
}
