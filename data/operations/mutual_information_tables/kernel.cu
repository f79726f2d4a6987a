#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kTables = 40;
constexpr int kBinsX = 12;
constexpr int kBinsY = 16;
constexpr int kCells = kBinsX * kBinsY;
constexpr int kBlock = 128;

__device__ float block_sum(float v, float* scratch) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < kBlock / 32; ++w) sum += scratch[w];
    return sum;
}

// One block a table; marginal sums are gathered in shared memory.
__global__ void information_block(const int* __restrict__ joint, float* __restrict__ information,
                                  float* __restrict__ uncertainty) {
    __shared__ int rows[kBinsX], cols[kBinsY];
    __shared__ int total, occupied;
    __shared__ float scratch[kBlock / 32];
    const int* cells = joint + (size_t)blockIdx.x * kCells;
    const int t = threadIdx.x;
    for (int k = t; k < kBinsX; k += kBlock) rows[k] = 0;
    for (int k = t; k < kBinsY; k += kBlock) cols[k] = 0;
    if (t == 0) total = occupied = 0;
    __syncthreads();
    for (int k = t; k < kCells; k += kBlock) {
        const int v = cells[k];
        if (v > 0) {
            atomicAdd(&rows[k / kBinsY], v);
            atomicAdd(&cols[k % kBinsY], v);
        }
    }
    __syncthreads();
    for (int k = t; k < kBinsX; k += kBlock) {
        if (rows[k] > 0) {
            atomicAdd(&total, rows[k]);
            atomicAdd(&occupied, 1);
        }
    }
    __syncthreads();
    const float n = (float)total;
    float mi = 0.0f, h = 0.0f;
    for (int k = t; k < kCells; k += kBlock) {
        const float v = (float)cells[k];
        if (v > 0.0f) mi += v * log2f(v * n / ((float)rows[k / kBinsY] * (float)cols[k % kBinsY]));
    }
    for (int k = t; k < kBinsX; k += kBlock) {
        if (rows[k] > 0) h += rows[k] * log2f(n / rows[k]);
    }
    mi = block_sum(mi, scratch);
    h = block_sum(h, scratch);
    if (t == 0) {
        information[blockIdx.x] = mi / n;
        uncertainty[blockIdx.x] = occupied > 1 ? mi / h : 0.0f;
    }
}

int main() {
    const size_t total = kTables * kBinsX * kBinsY;
    auto joint = from_file<int>("data/joint.bin", total);
    std::vector<float> information(kTables);
    std::vector<float> uncertainty(kTables);

    int *d_joint;
    float *d_information, *d_uncertainty;
    cudaMalloc(&d_joint, joint.size() * sizeof(int));
    cudaMalloc(&d_information, information.size() * sizeof(float));
    cudaMalloc(&d_uncertainty, uncertainty.size() * sizeof(float));
    cudaMemcpy(d_joint, joint.data(), joint.size() * sizeof(int), cudaMemcpyHostToDevice);

    information_block<<<kTables, kBlock>>>(d_joint, d_information, d_uncertainty);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(information.data(), d_information, information.size() * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/information.bin", information);
    cudaMemcpy(uncertainty.data(), d_uncertainty, uncertainty.size() * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/uncertainty.bin", uncertainty);
    cudaFree(d_joint);
    cudaFree(d_information);
    cudaFree(d_uncertainty);
    return 0;
}
