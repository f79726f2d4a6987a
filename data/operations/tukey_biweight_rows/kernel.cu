#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

void get_tensor(const std::string& path, void* ptr, size_t num_bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(ptr), num_bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void put_tensor(const std::string& path, const void* ptr, size_t num_bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(ptr), num_bytes);
}
//@given

#define ROWS 50
#define COLS 300

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// One warp per row; 1 - (1 - u)^3 is expanded to u (3 - 3u + u^2) with u = min((r / c)^2, 1).
__global__ void biweight_warp(const float* __restrict__ residual, float* __restrict__ loss,
        int* __restrict__ outliers) {
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= ROWS) return;
    const float* r = residual + (size_t)row * COLS;
    float sum = 0.0f;
    int count = 0;
    for (int j = lane; j < COLS; j += 32) {
        const float v = r[j];
        const float u = fminf(v * v * 0.0625f, 1.0f);
        sum += u * (3.0f + u * (u - 3.0f));
        count += fabsf(v) > 4.0f;
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
        count += __shfl_xor_sync(0xffffffffu, count, d);
    }
    if (lane == 0) {
        loss[row] = sum * 2.6666667f;
        outliers[row] = count;
    }
}

int main() {
    const size_t bytes_residual = ROWS * COLS * sizeof(float);
    const size_t loss_bytes = ROWS * sizeof(float);
    const size_t bytes_outliers = ROWS * sizeof(int);
    std::vector<float> host_residual(ROWS * COLS);
    std::vector<float> host_loss(ROWS);
    std::vector<int> host_outliers(ROWS);
    get_tensor("data/residual.bin", host_residual.data(), bytes_residual);

    float *dev_residual, *dev_loss;
    int* dev_outliers;
    cudaMalloc(&dev_residual, bytes_residual);
    cudaMalloc(&dev_loss, loss_bytes);
    cudaMalloc(&dev_outliers, bytes_outliers);
    cudaMemcpy(dev_residual, host_residual.data(), bytes_residual, cudaMemcpyHostToDevice);

    biweight_warp<<<CEIL_DIV(ROWS, 8), 256>>>(dev_residual, dev_loss, dev_outliers);

    cudaMemcpy(host_loss.data(), dev_loss, loss_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_outliers.data(), dev_outliers, bytes_outliers, cudaMemcpyDeviceToHost);
    put_tensor("data/loss.bin", host_loss.data(), loss_bytes);
    put_tensor("data/outliers.bin", host_outliers.data(), bytes_outliers);

    cudaFree(dev_residual);
    cudaFree(dev_loss);
    cudaFree(dev_outliers);
    return 0;
}
