#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxPairs = 1 << 24;

// Returns the carry out of the highest word.
__device__ __forceinline__ uint32_t addWithCarry(const uint4& a, const uint4& b, uint4& sum) {
    uint32_t carry;
    asm("add.cc.u32 %0, %5, %9;\n\t"
        "addc.cc.u32 %1, %6, %10;\n\t"
        "addc.cc.u32 %2, %7, %11;\n\t"
        "addc.cc.u32 %3, %8, %12;\n\t"
        "addc.u32 %4, 0, 0;"
        : "=&r"(sum.x), "=&r"(sum.y), "=&r"(sum.z), "=&r"(sum.w), "=&r"(carry)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w));
    return carry;
}

__global__ void addSaturating(const uint4* __restrict__ a, const uint4* __restrict__ b, uint4* __restrict__ sums,
                              int* saturated, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    uint32_t carry = 0;
    if (i < n) {
        uint4 sum;
        carry = addWithCarry(a[i], b[i], sum);
        const uint32_t fill = 0u - carry;  // all ones after an overflow
        sums[i] = make_uint4(sum.x | fill, sum.y | fill, sum.z | fill, sum.w | fill);
    }
    const unsigned overflows = __ballot_sync(0xffffffffu, carry);
    if (threadIdx.x % 32 == 0 && overflows != 0) {
        atomicAdd(saturated, __popc(overflows));
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}

template <typename T>
static std::vector<T> readAll(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != std::ifstream::traits_type::eof()) {
        std::fprintf(stderr, "%s: does not hold exactly %zu items of %zu bytes\n", path, count, sizeof(T));
        std::exit(EXIT_FAILURE);
    }
    return values;
}

static void writeAll(const char* path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    const int n = readAll<int32_t>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxPairs) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxPairs);
        return EXIT_FAILURE;
    }
    const auto a = readAll<uint4>("data/a.bin", n);
    const auto b = readAll<uint4>("data/b.bin", n);

    const size_t bytes = n * sizeof(uint4);
    uint4 *dA = nullptr, *dB = nullptr, *dSum = nullptr;
    int* dSaturated = nullptr;
    check(cudaMalloc(&dA, bytes), "allocate a");
    check(cudaMalloc(&dB, bytes), "allocate b");
    check(cudaMalloc(&dSum, bytes), "allocate the sums");
    check(cudaMalloc(&dSaturated, sizeof(int)), "allocate the counter");
    check(cudaMemcpy(dA, a.data(), bytes, cudaMemcpyHostToDevice), "copy a");
    check(cudaMemcpy(dB, b.data(), bytes, cudaMemcpyHostToDevice), "copy b");
    check(cudaMemset(dSaturated, 0, sizeof(int)), "clear the counter");

    addSaturating<<<(n + kThreads - 1) / kThreads, kThreads>>>(dA, dB, dSum, dSaturated, n);
    check(cudaGetLastError(), "launch");

    std::vector<uint4> sum(n);
    int saturated = 0;
    check(cudaMemcpy(sum.data(), dSum, bytes, cudaMemcpyDeviceToHost), "copy the sums");
    check(cudaMemcpy(&saturated, dSaturated, sizeof(int), cudaMemcpyDeviceToHost), "copy the counter");
    for (void* buffer : {static_cast<void*>(dA), static_cast<void*>(dB), static_cast<void*>(dSum),
                         static_cast<void*>(dSaturated)}) {
        check(cudaFree(buffer), "free");
    }
    writeAll("data/sum.bin", sum.data(), bytes);
    writeAll("data/saturated.bin", &saturated, sizeof(saturated));
    return EXIT_SUCCESS;
}
