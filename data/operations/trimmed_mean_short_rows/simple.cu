#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define ROWS 300
#define WIDTH 37
#define TRIM (WIDTH / 8)
#define BLOCK 128

__global__ void trimmed_mean(const float* x, float* trimmed) {
    __shared__ float row[WIDTH];
    __shared__ float part[BLOCK];
    const float* src = x + (size_t)blockIdx.x * WIDTH;
    int t = threadIdx.x;
    for (int i = t; i < WIDTH; i += BLOCK) row[i] = src[i];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < WIDTH; i += BLOCK) {
        float v = row[i];
        int rank = 0;
        for (int j = 0; j < WIDTH; ++j) {
            if (row[j] < v || (row[j] == v && j < i)) ++rank;
        }
        if (rank >= TRIM && rank < WIDTH - TRIM) sum += v;
    }
    part[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) trimmed[blockIdx.x] = part[0] / (WIDTH - 2 * TRIM);
}

int main() {
    const int elements = ROWS * WIDTH;
    std::vector<float> h_x(elements);
    std::vector<float> h_trimmed(ROWS);

    std::ifstream file("data/x.bin", std::ios::binary);
    file.read((char*)h_x.data(), elements * sizeof(float));
    if (!file) {
        std::cerr << "Failed to read data/x.bin" << std::endl;
        return 1;
    }

    float* d_x;
    float* d_trimmed;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMalloc(&d_trimmed, ROWS * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    trimmed_mean<<<ROWS, BLOCK>>>(d_x, d_trimmed);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_trimmed.data(), d_trimmed, ROWS * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out("data/trimmed.bin", std::ios::binary);
    out.write((char*)h_trimmed.data(), ROWS * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_trimmed);
    return 0;
}
