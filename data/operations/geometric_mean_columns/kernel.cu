#include <cuda_runtime.h>
#include <fstream>
#include <vector>

#define ROWS 200
#define COLS 130
#define TX 32
#define TY 8

// A block covers 32 columns; its eight rows of threads share the work of each column.
__global__ void geometric_mean_tiles(const float* __restrict__ x, float* __restrict__ gmean) {
    __shared__ float part[TY][TX];
    int c = blockIdx.x * TX + threadIdx.x;
    float sum = 0.0f;
    if (c < COLS) {
        for (int r = threadIdx.y; r < ROWS; r += TY) sum += logf(x[(size_t)r * COLS + c]);
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < COLS) {
        float total = 0.0f;
        for (int k = 0; k < TY; ++k) total += part[k][threadIdx.x];
        gmean[c] = expf(total / ROWS);
    }
}

int main() {
    const size_t numel = (size_t)ROWS * COLS;
    std::vector<float> h_x(numel), h_gmean(COLS);
    std::ifstream f("data/x.bin", std::ios::binary);
    if (!f.read((char*)h_x.data(), numel * sizeof(float))) return 1;
    float *d_x, *d_gmean;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_gmean, COLS * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(TX, TY);
    geometric_mean_tiles<<<(COLS + TX - 1) / TX, block>>>(d_x, d_gmean);
    cudaMemcpy(h_gmean.data(), d_gmean, COLS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/gmean.bin", std::ios::binary).write((char*)h_gmean.data(), COLS * sizeof(float));
    return 0;
}
