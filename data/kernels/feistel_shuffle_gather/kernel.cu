#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                 \
    do {                                                                                 \
        cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                     \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            std::exit(EXIT_FAILURE);                                                     \
        }                                                                                \
    } while (0)

constexpr int kThreads = 256;
constexpr int kRounds = 6;
constexpr int kMaxLength = 1 << 24;

struct Network {
    uint32_t keys[kRounds];
    int halfBits;
};

__device__ __forceinline__ uint32_t mix(uint32_t f) {
    f *= 0x9E3779B1u;
    f ^= f >> 15;
    f *= 0x85EBCA77u;
    return f ^ (f >> 13);
}

__device__ __forceinline__ uint32_t permute(uint32_t word, const Network& network) {
    const uint32_t mask = (1u << network.halfBits) - 1u;
    uint32_t left = word >> network.halfBits;
    uint32_t right = word & mask;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const uint32_t next = left ^ (mix(right ^ network.keys[round]) & mask);
        left = right;
        right = next;
    }
    return left << network.halfBits | right;
}

__global__ void shuffle(const int32_t* __restrict__ values, int32_t* __restrict__ order,
                        int32_t* __restrict__ shuffled, uint32_t n, Network network) {
    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    uint32_t source = i;
    do {
        source = permute(source, network);
    } while (source >= n);
    order[i] = static_cast<int32_t>(source);
    shuffled[i] = values[source];
}

template <typename T>
static void readInto(const char* path, T* target, size_t count) {
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(target), bytes)) {
        std::fprintf(stderr, "%s: missing or not %zu values long\n", path, count);
        std::exit(EXIT_FAILURE);
    }
}

static void saveFromDevice(const char* path, const int32_t* device, int n) {
    std::vector<int32_t> host(n);
    CUDA_CHECK(cudaMemcpy(host.data(), device, n * sizeof(int32_t), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), n * sizeof(int32_t));
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: write failed\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int32_t n = 0;
    readInto("data/sizes.bin", &n, 1);
    if (n < 1 || n > kMaxLength) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxLength);
        return EXIT_FAILURE;
    }
    Network network = {};
    readInto("data/keys.bin", network.keys, kRounds);
    network.halfBits = 1;
    while ((1LL << (2 * network.halfBits)) < n) {
        ++network.halfBits;
    }
    std::vector<int32_t> values(n);
    readInto("data/values.bin", values.data(), n);

    int32_t *dValues = nullptr, *dOrder = nullptr, *dShuffled = nullptr;
    CUDA_CHECK(cudaMalloc(&dValues, n * sizeof(int32_t)));
    CUDA_CHECK(cudaMalloc(&dOrder, n * sizeof(int32_t)));
    CUDA_CHECK(cudaMalloc(&dShuffled, n * sizeof(int32_t)));
    CUDA_CHECK(cudaMemcpy(dValues, values.data(), n * sizeof(int32_t), cudaMemcpyHostToDevice));

    shuffle<<<(n + kThreads - 1) / kThreads, kThreads>>>(dValues, dOrder, dShuffled, n, network);
    CUDA_CHECK(cudaGetLastError());
    saveFromDevice("data/order.bin", dOrder, n);
    saveFromDevice("data/shuffled.bin", dShuffled, n);

    CUDA_CHECK(cudaFree(dValues));
    CUDA_CHECK(cudaFree(dOrder));
    CUDA_CHECK(cudaFree(dShuffled));
    return EXIT_SUCCESS;
}
