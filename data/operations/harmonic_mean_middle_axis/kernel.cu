#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    stream.read(reinterpret_cast<char*>(data), bytes);
}

void writeFile(const std::string& path, const void* data, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), bytes);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

#define BATCH 4
#define STEPS 50
#define FEATURES 120
#define TX 32
#define TY 16

__global__ void harmonic_mean_split(const float* __restrict__ x, float* __restrict__ hmean) {
    __shared__ float part[TY][TX];
    int f = blockIdx.x * TX + threadIdx.x;
    const float* base = x + (size_t)blockIdx.y * STEPS * FEATURES;
    float sum = 0.0f;
    if (f < FEATURES) {
        for (int s = threadIdx.y; s < STEPS; s += TY) {
            float v = base[(size_t)s * FEATURES + f];
            // A zero makes the sum infinite, and the quotient below zero.
            sum += v == 0.0f ? INFINITY : 1.0f / v;
        }
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    for (int h = TY / 2; h > 0; h /= 2) {
        if (threadIdx.y < h) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + h][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0 && f < FEATURES) hmean[blockIdx.y * FEATURES + f] = STEPS / part[0][threadIdx.x];
}

int main() {
    const size_t n_x = (size_t)BATCH * STEPS * FEATURES;
    const size_t hmean_count = (size_t)BATCH * FEATURES;
    float* h_x = new float[n_x];
    readFile("data/x.bin", h_x, n_x * sizeof(float));
    float* h_hmean = new float[hmean_count];

    float* dX = nullptr;
    float* dHmean = nullptr;
    cudaMalloc(&dX, n_x * sizeof(float));
    cudaMalloc(&dHmean, hmean_count * sizeof(float));
    cudaMemcpy(dX, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);

    dim3 threads(TX, TY);
    dim3 blocks(CEIL_DIV(FEATURES, TX), BATCH);
    harmonic_mean_split<<<blocks, threads>>>(dX, dHmean);
    cudaDeviceSynchronize();

    cudaMemcpy(h_hmean, dHmean, hmean_count * sizeof(float), cudaMemcpyDeviceToHost);
    writeFile("data/hmean.bin", h_hmean, hmean_count * sizeof(float));

    cudaFree(dX);
    cudaFree(dHmean);
    delete[] h_x;
    delete[] h_hmean;
    return 0;
}
