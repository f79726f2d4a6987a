#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kRows = 300;
constexpr int kCols = 200;
constexpr int kBlock = 128;
constexpr int kChunk = 256;

// One block per 128 rows and per chunk of columns; the piece of t that both need is in shared memory.
__global__ void toeplitz_chunks(const float* __restrict__ t, const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float diagonals[kBlock + kChunk];
    __shared__ float part[kChunk];
    const int i0 = blockIdx.x * kBlock;
    const int j0 = blockIdx.y * kChunk;
    const int first = i0 - (j0 + kChunk - 1) + kCols - 1;
    for (int k = threadIdx.x; k < kBlock + kChunk - 1; k += kBlock) {
        const int at = first + k;
        diagonals[k] = at >= 0 && at < kRows + kCols - 1 ? t[at] : 0.0f;
    }
    for (int k = threadIdx.x; k < kChunk; k += kBlock) part[k] = j0 + k < kCols ? x[j0 + k] : 0.0f;
    __syncthreads();
    const int i = i0 + threadIdx.x;
    if (i >= kRows) return;
    float sum = 0.0f;
    for (int k = 0; k < kChunk; ++k) sum = fmaf(diagonals[threadIdx.x + kChunk - 1 - k], part[k], sum);
    atomicAdd(&y[i], sum);
}

int main() {
    std::vector<float> h_t(kRows + kCols - 1), h_x(kCols), h_y(kRows);

    std::ifstream t_file("data/t.bin", std::ios::binary);
    t_file.read(reinterpret_cast<char*>(h_t.data()), sizeof(float) * (kRows + kCols - 1));
    if (!t_file) {
        std::cerr << "failed to load data/t.bin" << std::endl;
        return 1;
    }
    std::ifstream x_file("data/x.bin", std::ios::binary);
    x_file.read(reinterpret_cast<char*>(h_x.data()), kCols * sizeof(float));
    if (!x_file) {
        std::cerr << "could not read data/x.bin" << std::endl;
        return 1;
    }

    float *d_t = nullptr, *d_x = nullptr, *d_y = nullptr;
    cudaMalloc(&d_t, sizeof(float) * (kRows + kCols - 1));
    cudaMemcpy(d_t, h_t.data(), sizeof(float) * (kRows + kCols - 1), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, kCols * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), kCols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, kRows * sizeof(float));
    cudaMemset(d_y, 0, kRows * sizeof(float));

    dim3 grid((kRows + kBlock - 1) / kBlock, (kCols + kChunk - 1) / kChunk);
    toeplitz_chunks<<<grid, kBlock>>>(d_t, d_x, d_y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream y_out("data/y.bin", std::ios::binary);
    y_out.write(reinterpret_cast<const char*>(h_y.data()), kRows * sizeof(float));

    cudaFree(d_t);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
