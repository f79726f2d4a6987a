#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 100
#define COLS 130

// One pass over 32 x 32 tiles adds to the sums of rows and columns and to the total.
__global__ void tile_sums(const float* __restrict__ a, float* __restrict__ rowSum, float* __restrict__ colSum,
                          float* __restrict__ total) {
    __shared__ float byColumn[8][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int j = blockIdx.x * 32 + tx;
    float column = 0.0f;
    for (int k = ty; k < 32; k += 8) {
        const int i = blockIdx.y * 32 + k;
        float v = i < ROWS && j < COLS ? a[i * COLS + j] : 0.0f;
        column += v;
        for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
        if (tx == 0 && i < ROWS) atomicAdd(&rowSum[i], v);
    }
    byColumn[ty][tx] = column;
    __syncthreads();
    if (ty == 0) {
        for (int k = 1; k < 8; ++k) column += byColumn[k][tx];
        if (j < COLS) atomicAdd(&colSum[j], column);
        for (int s = 16; s > 0; s >>= 1) column += __shfl_down_sync(0xffffffffu, column, s);
        if (tx == 0) atomicAdd(total, column);
    }
}

__global__ void subtract_means(const float* __restrict__ a, const float* __restrict__ rowSum,
                               const float* __restrict__ colSum, const float* __restrict__ total,
                               float* __restrict__ centred) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= COLS) return;
    const float shift = *total / ((float)ROWS * COLS) - colSum[j] / ROWS;
    for (int i = blockIdx.y; i < ROWS; i += gridDim.y) {
        centred[i * COLS + j] = a[i * COLS + j] - rowSum[i] / COLS + shift;
    }
}

int main() {
    const size_t a_count = (size_t)ROWS * COLS;
    std::vector<float> h_a(a_count);
    std::vector<float> h_centred(a_count);
    FILE* f = fopen("data/a.bin", "rb");
    if (!f || fread(h_a.data(), sizeof(float), h_a.size(), f) != h_a.size()) return 1;
    fclose(f);
    float *d_a, *d_centred, *d_row_sum, *d_col_sum, *d_total;
    cudaMalloc(&d_a, a_count * sizeof(float));
    cudaMalloc(&d_centred, a_count * sizeof(float));
    cudaMalloc(&d_row_sum, ROWS * sizeof(float));
    cudaMalloc(&d_col_sum, COLS * sizeof(float));
    cudaMalloc(&d_total, 1 * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), a_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_row_sum, 0, ROWS * sizeof(float));
    cudaMemset(d_col_sum, 0, COLS * sizeof(float));
    cudaMemset(d_total, 0, 1 * sizeof(float));
    dim3 tiles((COLS + 31) / 32, (ROWS + 31) / 32);
    tile_sums<<<tiles, dim3(32, 8)>>>(d_a, d_row_sum, d_col_sum, d_total);
    dim3 grid((COLS + 127) / 128, 64);
    subtract_means<<<grid, 128>>>(d_a, d_row_sum, d_col_sum, d_total, d_centred);
    cudaMemcpy(h_centred.data(), d_centred, a_count * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/centred.bin", "wb");
    fwrite(h_centred.data(), sizeof(float), h_centred.size(), f);
    fclose(f);
}
