#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxTrees = 65535, kMaxLeaves = 1024, kMaxNodes = 2 * kMaxLeaves - 1;
constexpr int kMaxCost = 1 << 20, kMaxOverhead = 1000;
constexpr int kThreads = 128;
constexpr uint8_t kSplit = 1, kReached = 2;

__global__ void bestBasis(const int* __restrict__ cost, uint8_t* __restrict__ chosen, int* __restrict__ total,
                          int leaves, int overhead) {
    __shared__ int best[kMaxNodes];
    __shared__ uint8_t flags[kMaxNodes];
    const int nodes = 2 * leaves - 1;
    const size_t tree = static_cast<size_t>(blockIdx.x) * nodes;
    for (int k = threadIdx.x; k < nodes; k += kThreads) {
        best[k] = cost[tree + k];
        flags[k] = 0;
    }
    __syncthreads();
    for (int width = leaves / 2; width >= 1; width /= 2) {
        for (int k = width - 1 + threadIdx.x; k < 2 * width - 1; k += kThreads) {
            const int children = best[2 * k + 1] + best[2 * k + 2] + overhead;
            if (children < best[k]) {
                best[k] = children;
                flags[k] = kSplit;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        flags[0] |= kReached;
        total[blockIdx.x] = best[0];
    }
    __syncthreads();
    for (int width = 1; width <= leaves; width *= 2) {
        for (int k = width - 1 + threadIdx.x; k < 2 * width - 1; k += kThreads) {
            if (k > 0 && flags[(k - 1) / 2] == (kSplit | kReached)) flags[k] |= kReached;
            chosen[tree + k] = flags[k] == kReached ? 1 : 0;
        }
        __syncthreads();
    }
}

class Failure {};

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::cerr << what << ": " << cudaGetErrorString(status) << std::endl;
    throw Failure();
}

static void require(bool condition, const char* message) {
    if (condition) return;
    std::cerr << message << std::endl;
    throw Failure();
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    require(in && static_cast<size_t>(in.tellg()) == count * sizeof(int), path);
    std::vector<int> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    require(static_cast<bool>(in), path);
    return values;
}

static void writeDevice(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), "download");
    std::ofstream out(path, std::ios::binary);
    out.write(host.data(), bytes);
    out.close();
    require(static_cast<bool>(out), path);
}

static void run() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int trees = sizes[0], leaves = sizes[1], overhead = sizes[2];
    require(trees >= 1 && trees <= kMaxTrees, "data/sizes.bin: number of trees");
    require(leaves >= 2 && leaves <= kMaxLeaves && (leaves & (leaves - 1)) == 0, "data/sizes.bin: number of leaves");
    require(overhead >= 1 && overhead <= kMaxOverhead, "data/sizes.bin: overhead");
    const size_t nodes = static_cast<size_t>(trees) * (2 * leaves - 1);
    const std::vector<int> cost = readInts("data/cost.bin", nodes);
    for (int c : cost) require(c >= 0 && c <= kMaxCost, "data/cost.bin: a cost is out of range");

    int *dCost = nullptr, *dTotal = nullptr;
    uint8_t* dChosen = nullptr;
    check(cudaMalloc(&dCost, nodes * sizeof(int)), "allocate");
    check(cudaMalloc(&dChosen, nodes), "allocate");
    check(cudaMalloc(&dTotal, trees * sizeof(int)), "allocate");
    check(cudaMemcpy(dCost, cost.data(), nodes * sizeof(int), cudaMemcpyHostToDevice), "upload");
    bestBasis<<<trees, kThreads>>>(dCost, dChosen, dTotal, leaves, overhead);
    check(cudaGetLastError(), "launch");
    writeDevice("data/chosen.bin", dChosen, nodes);
    writeDevice("data/total.bin", dTotal, trees * sizeof(int));
    check(cudaFree(dCost), "free");
    check(cudaFree(dChosen), "free");
    check(cudaFree(dTotal), "free");
}

int main() {
    try {
        run();
    } catch (const Failure&) {
        return 1;
    }
    return 0;
}
