#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <vector>

#include <cuda_runtime.h>

static const int kMaxBytes = 268435456;
static const int kPairs = 256 * 256;
static const int kThreads = 256;
static const int kBlocksPerMultiprocessor = 8;
static const unsigned kAllLanes = 0xffffffffu;

__global__ void countPairs(const uint8_t* __restrict__ text, int n, uint32_t* __restrict__ counts) {
    const int lane = threadIdx.x % 32;
    const int warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int stride = gridDim.x * kThreads;

    for (int first = warp * 32; first < n - 1; first += stride) {
        const int i = first + lane;
        const int byte = i < n ? text[i] : 0;
        int next = __shfl_down_sync(kAllLanes, byte, 1);
        if (lane == 31 && i + 1 < n) next = text[i + 1];

        const int pair = i + 1 < n ? 256 * byte + next : kPairs;
        const unsigned same = __match_any_sync(kAllLanes, pair);
        const int leader = __ffs(same) - 1;
        if (pair < kPairs && lane == leader) atomicAdd(&counts[pair], static_cast<uint32_t>(__popc(same)));
    }
}

// Reads a file that has exactly `bytes` bytes.
static bool readFile(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) return false;
    in.seekg(0);
    return static_cast<bool>(in.read(static_cast<char*>(target), bytes));
}

static cudaError_t countOnDevice(const std::vector<uint8_t>& text, std::vector<uint32_t>& counts) {
    const int n = static_cast<int>(text.size());
    const size_t countBytes = counts.size() * sizeof(uint32_t);
    uint8_t* dText = nullptr;
    uint32_t* dCounts = nullptr;
    int device = 0, multiprocessors = 0;

    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    }
    if (status == cudaSuccess) status = cudaMalloc(&dText, text.size());
    if (status == cudaSuccess) status = cudaMalloc(&dCounts, countBytes);
    if (status == cudaSuccess) status = cudaMemset(dCounts, 0, countBytes);
    if (status == cudaSuccess) status = cudaMemcpy(dText, text.data(), text.size(), cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        const int blocks = std::min((n + kThreads - 1) / kThreads, kBlocksPerMultiprocessor * multiprocessors);
        countPairs<<<blocks, kThreads>>>(dText, n, dCounts);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(counts.data(), dCounts, countBytes, cudaMemcpyDeviceToHost);
    cudaFree(dText);
    cudaFree(dCounts);
    return status;
}

int main() {
    int32_t n;
    if (!readFile("data/sizes.bin", &n, sizeof(n)) || n < 2 || n > kMaxBytes) {
        std::fprintf(stderr, "data/sizes.bin: expected one integer from 2 to %d\n", kMaxBytes);
        return 1;
    }
    std::vector<uint8_t> text(n);
    if (!readFile("data/text.bin", text.data(), text.size())) {
        std::fprintf(stderr, "data/text.bin: expected %d bytes\n", n);
        return 1;
    }
    std::vector<uint32_t> counts(kPairs);
    const cudaError_t status = countOnDevice(text, counts);
    if (status != cudaSuccess) {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        return 1;
    }

    std::ofstream out("data/counts.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(uint32_t));
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/counts.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
