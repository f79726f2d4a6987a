#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using Total = unsigned long long;

constexpr int kThreads = 256;
constexpr int kMaxLength = 1 << 24;

__device__ __forceinline__ uint32_t randomWord(uint64_t seed, uint64_t counter) {
    uint64_t z = seed + (counter + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<uint32_t>((z ^ (z >> 31)) >> 32);
}

// Stores a number below the bound and returns how many attempts were rejected before it.
__device__ unsigned draw(uint64_t seed, uint32_t i, uint32_t bound, uint32_t* number) {
    for (unsigned attempt = 0;; ++attempt) {
        const uint64_t word = randomWord(seed, (static_cast<uint64_t>(i) << 16) + attempt);
        const uint64_t product = word * bound;
        const uint32_t low = static_cast<uint32_t>(product);
        if (low >= bound || low >= (0u - bound) % bound) {
            *number = static_cast<uint32_t>(product >> 32);
            return attempt;
        }
    }
}

__global__ void drawBounded(const uint32_t* __restrict__ bounds, uint32_t* __restrict__ numbers, Total* rejections,
                            uint64_t seed, uint32_t n) {
    __shared__ unsigned blockRejections;
    if (threadIdx.x == 0) blockRejections = 0;
    __syncthreads();

    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) {
        const unsigned rejected = draw(seed, i, bounds[i], &numbers[i]);
        if (rejected > 0) atomicAdd(&blockRejections, rejected);
    }
    __syncthreads();
    if (threadIdx.x == 0 && blockRejections > 0) atomicAdd(rejections, static_cast<Total>(blockRejections));
}

#define CHECK(call)                                                                        \
    do {                                                                                   \
        const cudaError_t status_ = (call);                                                \
        if (status_ != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status_));  \
            std::exit(EXIT_FAILURE);                                                       \
        }                                                                                  \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(target), bytes);
    if (!in || in.peek() != std::ifstream::traits_type::eof()) {
        std::fprintf(stderr, "%s: does not have exactly %zu bytes\n", path, bytes);
        std::exit(EXIT_FAILURE);
    }
}

static void writeFile(const char* path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int32_t n;
    uint64_t seed;
    readFile("data/sizes.bin", &n, sizeof(n));
    readFile("data/seed.bin", &seed, sizeof(seed));
    if (n < 1 || n > kMaxLength) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxLength);
        return EXIT_FAILURE;
    }
    const size_t bytes = n * sizeof(uint32_t);
    uint32_t *bounds = nullptr, *numbers = nullptr;
    Total* rejections = nullptr;
    CHECK(cudaMallocManaged(&bounds, bytes));
    CHECK(cudaMallocManaged(&numbers, bytes));
    CHECK(cudaMallocManaged(&rejections, sizeof(Total)));
    *rejections = 0;
    readFile("data/bounds.bin", bounds, bytes);
    if (std::find(bounds, bounds + n, 0u) != bounds + n) {
        std::fprintf(stderr, "data/bounds.bin: a bound is 0\n");
        return EXIT_FAILURE;
    }

    drawBounded<<<(n + kThreads - 1) / kThreads, kThreads>>>(bounds, numbers, rejections, seed, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    writeFile("data/numbers.bin", numbers, bytes);
    writeFile("data/rejections.bin", rejections, sizeof(Total));
    CHECK(cudaFree(bounds));
    CHECK(cudaFree(numbers));
    CHECK(cudaFree(rejections));
    return EXIT_SUCCESS;
}
