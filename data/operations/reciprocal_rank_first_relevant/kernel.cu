#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kQueries = 200;
constexpr int kItems = 90;
constexpr int kNumElements = kQueries * kItems;

__global__ void reciprocal_rank_block(const float* __restrict__ scores, const unsigned char* __restrict__ relevant,
                                      float* __restrict__ reciprocal, float* mean) {
    __shared__ float warp_top[4];
    __shared__ int ahead;
    const float* s = scores + (size_t)blockIdx.x * kItems;
    const unsigned char* r = relevant + (size_t)blockIdx.x * kItems;
    float best = -INFINITY;
    for (int i = threadIdx.x; i < kItems; i += 128) {
        if (r[i] && s[i] > best) best = s[i];
    }
    for (int d = 16; d > 0; d >>= 1) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, d));
    if (threadIdx.x % 32 == 0) warp_top[threadIdx.x / 32] = best;
    if (threadIdx.x == 0) ahead = 0;
    __syncthreads();
    best = fmaxf(fmaxf(warp_top[0], warp_top[1]), fmaxf(warp_top[2], warp_top[3]));
    if (best == -INFINITY) {
        if (threadIdx.x == 0) reciprocal[blockIdx.x] = 0.0f;
        return;
    }
    int count = 0;
    for (int i = threadIdx.x; i < kItems; i += 128) count += s[i] >= best && r[i] == 0;
    count += __shfl_down_sync(0xffffffffu, count, 16);
    count += __shfl_down_sync(0xffffffffu, count, 8);
    count += __shfl_down_sync(0xffffffffu, count, 4);
    count += __shfl_down_sync(0xffffffffu, count, 2);
    count += __shfl_down_sync(0xffffffffu, count, 1);
    if (threadIdx.x % 32 == 0) atomicAdd(&ahead, count);
    __syncthreads();
    if (threadIdx.x == 0) {
        const float value = 1.0f / (float)(ahead + 1);
        reciprocal[blockIdx.x] = value;
        atomicAdd(mean, value / kQueries);
    }
}

int main() {
    auto host_scores = load_vector<float>("data/scores.bin", kNumElements);
    auto host_relevant = load_vector<unsigned char>("data/relevant.bin", kNumElements);
    std::vector<float> host_reciprocal(kQueries), host_mean(1);

    float* d_scores = nullptr;
    unsigned char* d_relevant = nullptr;
    float* d_reciprocal = nullptr;
    float* d_mean = nullptr;
    cudaMalloc(&d_scores, kNumElements * sizeof(float));
    cudaMalloc(&d_relevant, kNumElements * sizeof(unsigned char));
    cudaMalloc(&d_reciprocal, kQueries * sizeof(float));
    cudaMalloc(&d_mean, sizeof(float));
    cudaMemcpy(d_scores, host_scores.data(), kNumElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_relevant, host_relevant.data(), kNumElements * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemset(d_mean, 0, sizeof(float));

    reciprocal_rank_block<<<kQueries, 128>>>(d_scores, d_relevant, d_reciprocal, d_mean);

    const auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(host_reciprocal.data(), d_reciprocal, kQueries * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_mean.data(), d_mean, sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/reciprocal.bin", host_reciprocal);
    store_vector("data/mean.bin", host_mean);
    cudaFree(d_scores);
    cudaFree(d_relevant);
    cudaFree(d_reciprocal);
    cudaFree(d_mean);
    return 0;
}
