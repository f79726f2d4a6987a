#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

__global__ void shapeUtilities(const float* __restrict__ rewards, float* __restrict__ utilities, int population) {
    __shared__ float tile[kThreads];
    const int k = blockIdx.x * kThreads + threadIdx.x;
    const float mine = k < population ? rewards[k] : 0.0f;
    int rank = 0;
    for (int base = 0; base < population; base += kThreads) {
        __syncthreads();
        if (base + threadIdx.x < population) tile[threadIdx.x] = rewards[base + threadIdx.x];
        __syncthreads();
        const int count = min(kThreads, population - base);
        for (int j = 0; j < count; ++j) rank += tile[j] < mine || (tile[j] == mine && base + j < k);
    }
    if (k < population) utilities[k] = static_cast<float>(rank) / (population - 1) - 0.5f;
}

__device__ uint32_t signBit(uint32_t k, uint32_t d) {
    uint32_t x = ((k + 1) * 0x9E3779B1u) ^ ((d + 1) * 0x85EBCA6Bu);
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x & 0x80000000u;
}

__global__ void moveTheta(const float* __restrict__ utilities, float* theta, int population, int dims) {
    __shared__ uint32_t tile[kThreads];  // patterns of the utilities
    const int d = blockIdx.x * kThreads + threadIdx.x;
    float sum = 0.0f;
    for (int base = 0; base < population; base += kThreads) {
        __syncthreads();
        if (base + threadIdx.x < population) tile[threadIdx.x] = __float_as_uint(utilities[base + threadIdx.x]);
        __syncthreads();
        const int count = min(kThreads, population - base);
        for (int j = 0; j < count; ++j) sum += __uint_as_float(tile[j] ^ signBit(base + j, d));
    }
    if (d < dims) theta[d] += 0.5f / population * sum;
}

#define CHECK(call)                                                                \
    do {                                                                           \
        const cudaError_t status = (call);                                         \
        if (status != cudaSuccess) {                                               \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));   \
            std::exit(1);                                                          \
        }                                                                          \
    } while (0)

static void readFile(const char* path, void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(data, 1, bytes, file) != bytes || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        std::exit(1);
    }
    std::fclose(file);
}

static void writeFile(const char* path, const std::vector<float>& values) {
    std::FILE* file = std::fopen(path, "wb");
    const size_t count = values.size();
    if (!file || std::fwrite(values.data(), sizeof(float), count, file) != count || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(1);
    }
}

int main() {
    int32_t sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int population = sizes[0], dims = sizes[1];
    if (population < 2 || population > 4096 || dims < 1 || dims > 1000000) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<float> rewards(population), theta(dims);
    readFile("data/rewards.bin", rewards.data(), population * sizeof(float));
    readFile("data/theta.bin", theta.data(), dims * sizeof(float));
    float *dRewards, *dUtilities, *dTheta;
    CHECK(cudaMalloc(&dRewards, population * sizeof(float)));
    CHECK(cudaMalloc(&dUtilities, population * sizeof(float)));
    CHECK(cudaMalloc(&dTheta, dims * sizeof(float)));
    CHECK(cudaMemcpy(dRewards, rewards.data(), population * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dTheta, theta.data(), dims * sizeof(float), cudaMemcpyHostToDevice));
    shapeUtilities<<<(population + kThreads - 1) / kThreads, kThreads>>>(dRewards, dUtilities, population);
    CHECK(cudaGetLastError());
    moveTheta<<<(dims + kThreads - 1) / kThreads, kThreads>>>(dUtilities, dTheta, population, dims);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(rewards.data(), dUtilities, population * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(theta.data(), dTheta, dims * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dRewards));
    CHECK(cudaFree(dUtilities));
    CHECK(cudaFree(dTheta));
    writeFile("data/utilities.bin", rewards);
    writeFile("data/new_theta.bin", theta);
    return 0;
}
