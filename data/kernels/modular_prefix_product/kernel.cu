#include <cuda/atomic>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        cudaError_t status_ = (call);                                                          \
        if (status_ != cudaSuccess) {                                                          \
            std::fprintf(stderr, "CUDA, line %d: %s\n", __LINE__, cudaGetErrorString(status_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

using Descriptor = unsigned long long;  // state in the upper half, value in the lower
using Slot = cuda::atomic_ref<Descriptor, cuda::thread_scope_device>;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;
constexpr int kMaxLength = 1 << 24;
constexpr uint32_t kMaxModulus = 2147483647u;
constexpr Descriptor kTileOnly = 1ULL << 32;
constexpr Descriptor kInclusive = 2ULL << 32;

__device__ __forceinline__ uint32_t multiply(uint32_t a, uint32_t b, uint32_t modulus) {
    return static_cast<uint32_t>(static_cast<uint64_t>(a) * b % modulus);
}

__device__ void publish(Descriptor* slot, Descriptor state, uint32_t value) {
    Slot(*slot).store(state | value, cuda::memory_order_relaxed);
}

// The product of all tiles before this one.
__device__ uint32_t lookBack(Descriptor* descriptors, int tile, uint32_t modulus) {
    uint32_t prefix = 1;
    for (int t = tile - 1;; --t) {
        Descriptor seen;
        do {
            seen = Slot(descriptors[t]).load(cuda::memory_order_relaxed);
        } while (seen < kTileOnly);
        prefix = multiply(prefix, static_cast<uint32_t>(seen), modulus);
        if (seen >= kInclusive) return prefix;
    }
}

__global__ void prefixProducts(const uint32_t* __restrict__ factors, uint32_t* __restrict__ products, int n,
                               uint32_t modulus, Descriptor* descriptors, int* ticket) {
    __shared__ int tile;
    __shared__ uint32_t tilePrefix;
    __shared__ uint32_t warpProducts[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();

    const int first = tile * kTile + threadIdx.x * kItems;
    uint32_t items[kItems];
    uint32_t own = 1;
    for (int k = 0; k < kItems; ++k) {
        items[k] = first + k < n ? factors[first + k] : 1;
        own = multiply(own, items[k], modulus);
    }
    uint32_t inclusive = own;
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t left = __shfl_up_sync(0xffffffffu, inclusive, d);
        if (lane >= d) inclusive = multiply(left, inclusive, modulus);
    }
    if (lane == 31) warpProducts[warp] = inclusive;
    uint32_t running = __shfl_up_sync(0xffffffffu, inclusive, 1);
    if (lane == 0) running = 1;
    __syncthreads();

    if (threadIdx.x == 0) {
        uint32_t total = 1;
        for (int w = 0; w < kWarps; ++w) total = multiply(total, warpProducts[w], modulus);
        uint32_t before = 1;
        if (tile > 0) {
            publish(&descriptors[tile], kTileOnly, total);
            before = lookBack(descriptors, tile, modulus);
        }
        publish(&descriptors[tile], kInclusive, multiply(before, total, modulus));
        tilePrefix = before;
    }
    __syncthreads();

    for (int w = 0; w < warp; ++w) running = multiply(running, warpProducts[w], modulus);
    running = multiply(running, tilePrefix, modulus);
    for (int k = 0; k < kItems && first + k < n; ++k) {
        running = multiply(running, items[k], modulus);
        products[first + k] = running;
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const int n = readFile<int32_t>("data/sizes.bin", 1)[0];
    const uint32_t modulus = readFile<uint32_t>("data/modulus.bin", 1)[0];
    if (n < 1 || n > kMaxLength || modulus < 2 || modulus > kMaxModulus) {
        std::fprintf(stderr, "n = %d or modulus = %u is out of range\n", n, modulus);
        return EXIT_FAILURE;
    }
    std::vector<uint32_t> numbers = readFile<uint32_t>("data/factors.bin", n);

    const size_t bytes = n * sizeof(uint32_t);
    const int tiles = (n + kTile - 1) / kTile;
    uint32_t *factors, *products;
    Descriptor* descriptors;
    int* ticket;
    CHECK(cudaMalloc(&factors, bytes));
    CHECK(cudaMalloc(&products, bytes));
    CHECK(cudaMalloc(&descriptors, tiles * sizeof(Descriptor)));
    CHECK(cudaMalloc(&ticket, sizeof(int)));
    CHECK(cudaMemcpy(factors, numbers.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(descriptors, 0, tiles * sizeof(Descriptor)));
    CHECK(cudaMemset(ticket, 0, sizeof(int)));

    prefixProducts<<<tiles, kThreads>>>(factors, products, n, modulus, descriptors, ticket);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(numbers.data(), products, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(factors));
    CHECK(cudaFree(products));
    CHECK(cudaFree(descriptors));
    CHECK(cudaFree(ticket));

    std::ofstream out("data/products.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(numbers.data()), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/products.bin: cannot be written\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
