#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

using Word = unsigned long long;  // holds a two's complement sum; atomicAdd has no signed 64-bit form

constexpr int kMaxCount = 134217728;
constexpr int kMaxBins = 4096;
constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr float kOne = 65536.0f;  // 1.0 in fixed point

__global__ void addWeights(const uint16_t* __restrict__ keys, const float* __restrict__ weights, int n, int bins,
                           Word* __restrict__ totals) {
    extern __shared__ Word table[];
    for (int b = threadIdx.x; b < bins; b += kThreads) table[b] = 0;
    __syncthreads();

    const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride) {
        atomicAdd(&table[keys[i]], static_cast<Word>(__float2ll_rn(weights[i] * kOne)));
    }
    __syncthreads();

    for (int b = threadIdx.x; b < bins; b += kThreads) {
        if (table[b] != 0) atomicAdd(&totals[b], table[b]);
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s failed: %s\n", step, cudaGetErrorString(status));
        exit(1);
    }
}

template <typename T>
static std::vector<T> readValues(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: expected %lld bytes\n", path, static_cast<long long>(bytes));
        exit(1);
    }
    return values;
}

int main() {
    const std::vector<int32_t> sizes = readValues<int32_t>("data/sizes.bin", 2);
    const int n = sizes[0], bins = sizes[1];
    if (n < 1 || n > kMaxCount || bins < 1 || bins > kMaxBins) {
        fprintf(stderr, "data/sizes.bin: n or bins out of range\n");
        return 1;
    }
    const std::vector<uint16_t> keys = readValues<uint16_t>("data/keys.bin", n);
    const std::vector<float> weights = readValues<float>("data/weights.bin", n);
    if (*std::max_element(keys.begin(), keys.end()) >= bins) {
        fprintf(stderr, "data/keys.bin: a key is not below %d\n", bins);
        return 1;
    }

    uint16_t* dKeys;
    float* dWeights;
    Word* dTotals;
    check(cudaMalloc(&dKeys, keys.size() * sizeof(uint16_t)), "cudaMalloc");
    check(cudaMalloc(&dWeights, weights.size() * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&dTotals, bins * sizeof(Word)), "cudaMalloc");
    check(cudaMemcpy(dKeys, keys.data(), keys.size() * sizeof(uint16_t), cudaMemcpyHostToDevice), "copy of keys");
    check(cudaMemcpy(dWeights, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice),
          "copy of weights");
    check(cudaMemset(dTotals, 0, bins * sizeof(Word)), "cudaMemset");

    int device, multiprocessors;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "device query");
    const int blocks = std::min((n + kThreads - 1) / kThreads, kBlocksPerMultiprocessor * multiprocessors);
    addWeights<<<blocks, kThreads, bins * sizeof(Word)>>>(dKeys, dWeights, n, bins, dTotals);
    check(cudaGetLastError(), "addWeights");

    std::vector<int64_t> totals(bins);
    check(cudaMemcpy(totals.data(), dTotals, bins * sizeof(int64_t), cudaMemcpyDeviceToHost), "copy of totals");
    check(cudaFree(dKeys), "cudaFree");
    check(cudaFree(dWeights), "cudaFree");
    check(cudaFree(dTotals), "cudaFree");

    std::ofstream out("data/totals.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(totals.data()), totals.size() * sizeof(int64_t));
    out.close();
    if (!out) {
        fprintf(stderr, "data/totals.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
