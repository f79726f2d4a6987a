#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

constexpr int kBits = 4;
constexpr int kDigits = 1 << kBits;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kScanThreads = 1024;
constexpr unsigned kFull = 0xffffffffu;
constexpr int kMaxPairs = 1 << 24;

__device__ __forceinline__ int digitOf(uint32_t key, int shift) { return (key >> shift) & (kDigits - 1); }

__global__ void countDigits(const uint32_t* __restrict__ keys, int n, int shift, int* counts) {
    __shared__ int local[kDigits];
    if (threadIdx.x < kDigits) local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) atomicAdd(&local[digitOf(keys[i], shift)], 1);
    __syncthreads();
    if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__global__ void scanCounts(int* counts, int total) {
    __shared__ int warpSums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int carry = 0;
    for (int base = 0; base < total; base += kScanThreads) {
        int i = base + threadIdx.x;
        int own = i < total ? counts[i] : 0;
        int sum = own;
        for (int d = 1; d < 32; d *= 2) {
            int left = __shfl_up_sync(kFull, sum, d);
            if (lane >= d) sum += left;
        }
        if (lane == 31) warpSums[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            int w = warpSums[lane];
            for (int d = 1; d < 32; d *= 2) {
                int left = __shfl_up_sync(kFull, w, d);
                if (lane >= d) w += left;
            }
            warpSums[lane] = w;
        }
        __syncthreads();
        int before = carry + (warp > 0 ? warpSums[warp - 1] : 0);
        if (i < total) counts[i] = before + sum - own;
        carry += warpSums[31];
        __syncthreads();  // warpSums is filled anew in the next round
    }
}

__global__ void scatterPairs(const uint32_t* __restrict__ keysIn, const uint32_t* __restrict__ valuesIn,
                             uint32_t* __restrict__ keysOut, uint32_t* __restrict__ valuesOut, int n, int shift,
                             const int* __restrict__ starts) {
    __shared__ int groupSize[kWarps][kDigits + 1];
    for (int e = threadIdx.x; e < kWarps * (kDigits + 1); e += kThreads) {
        groupSize[e / (kDigits + 1)][e % (kDigits + 1)] = 0;
    }
    __syncthreads();

    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t key = i < n ? keysIn[i] : 0;
    int digit = i < n ? digitOf(key, shift) : kDigits;

    unsigned same = __match_any_sync(kFull, digit);
    int rank = __popc(same & ((1u << lane) - 1u));
    if (rank == 0) groupSize[warp][digit] = __popc(same);
    __syncthreads();

    if (i < n) {
        for (int w = 0; w < warp; ++w) rank += groupSize[w][digit];
        int target = starts[digit * gridDim.x + blockIdx.x] + rank;
        keysOut[target] = key;
        valuesOut[target] = valuesIn[i];
    }
}

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA error, line %d: %s\n", line, cudaGetErrorString(status));
        exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::streamsize bytes = count * sizeof(T);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(data.data()), bytes)) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    return data;
}

static void writeFile(const char* path, const std::vector<uint32_t>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(uint32_t));
    out.close();
    if (!out) {
        fprintf(stderr, "%s: write failed\n", path);
        exit(1);
    }
}

int main() {
    const int n = readFile<int32_t>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxPairs) {
        fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxPairs);
        return 1;
    }
    const int blocks = (n + kThreads - 1) / kThreads;
    const size_t bytes = n * sizeof(uint32_t);
    std::vector<uint32_t> keys = readFile<uint32_t>("data/keys.bin", n);
    std::vector<uint32_t> values = readFile<uint32_t>("data/values.bin", n);

    uint32_t *keysA, *keysB, *valuesA, *valuesB;
    int* counts;
    CHECK(cudaMalloc(&keysA, bytes));
    CHECK(cudaMalloc(&keysB, bytes));
    CHECK(cudaMalloc(&valuesA, bytes));
    CHECK(cudaMalloc(&valuesB, bytes));
    CHECK(cudaMalloc(&counts, kDigits * blocks * sizeof(int)));
    CHECK(cudaMemcpy(keysA, keys.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(valuesA, values.data(), bytes, cudaMemcpyHostToDevice));

    for (int shift = 0; shift < 32; shift += kBits) {
        countDigits<<<blocks, kThreads>>>(keysA, n, shift, counts);
        CHECK(cudaGetLastError());
        scanCounts<<<1, kScanThreads>>>(counts, kDigits * blocks);
        CHECK(cudaGetLastError());
        scatterPairs<<<blocks, kThreads>>>(keysA, valuesA, keysB, valuesB, n, shift, counts);
        CHECK(cudaGetLastError());
        std::swap(keysA, keysB);
        std::swap(valuesA, valuesB);
    }

    CHECK(cudaMemcpy(keys.data(), keysA, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(values.data(), valuesA, bytes, cudaMemcpyDeviceToHost));
    for (uint32_t* p : {keysA, keysB, valuesA, valuesB}) CHECK(cudaFree(p));
    CHECK(cudaFree(counts));
    writeFile("data/sorted_keys.bin", keys);
    writeFile("data/sorted_values.bin", values);
    return 0;
}
