#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxPoints = 65536, kMaxNeighbors = 64, kMaxPairs = 256;
constexpr int kWarps = 4;
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void relativeMax(const __half2* __restrict__ features, const int* __restrict__ neighbors,
                            __half2* __restrict__ edge, int n, int k, int pairs) {
    const int lane = threadIdx.x, i = blockIdx.x * kWarps + threadIdx.y;
    if (i >= n) return;  // a whole warp
    for (int first = 0; first < pairs; first += 32) {
        const int p = min(first + lane, pairs - 1);
        float2 best = make_float2(-70000.0f, -70000.0f);  // below every half
        for (int begin = 0; begin < k; begin += 32) {
            const int listed = min(32, k - begin);
            const int mine = neighbors[static_cast<size_t>(i) * k + begin + min(lane, listed - 1)];
            for (int s = 0; s < listed; ++s) {
                const int j = __shfl_sync(kAll, mine, s);
                const float2 value = __half22float2(features[static_cast<size_t>(j) * pairs + p]);
                best.x = fmaxf(best.x, value.x);
                best.y = fmaxf(best.y, value.y);
            }
        }
        const size_t at = static_cast<size_t>(i) * pairs + p;
        const float2 own = __half22float2(features[at]);
        if (first + lane < pairs) edge[at] = __floats2half2_rn(best.x - own.x, best.y - own.y);
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 3);
        const int n = sizes[0], k = sizes[1], pairs = sizes[2];
        if (n < 1 || n > kMaxPoints || k < 1 || k > kMaxNeighbors || pairs < 1 || pairs > kMaxPairs) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto features = readFile<__half2>("data/features.bin", static_cast<size_t>(n) * pairs);
        const auto neighbors = readFile<int>("data/neighbors.bin", static_cast<size_t>(n) * k);
        for (int j : neighbors) {
            if (j < 0 || j >= n) throw std::runtime_error("data/neighbors.bin: an index is out of range");
        }
        const size_t bytes = features.size() * sizeof(__half2), listBytes = neighbors.size() * sizeof(int);
        __half2 *dFeatures, *dEdge;
        int* dNeighbors;
        check(cudaMalloc(&dFeatures, bytes), "allocate");
        check(cudaMalloc(&dEdge, bytes), "allocate");
        check(cudaMalloc(&dNeighbors, listBytes), "allocate");
        check(cudaMemcpy(dFeatures, features.data(), bytes, cudaMemcpyHostToDevice), "upload");
        check(cudaMemcpy(dNeighbors, neighbors.data(), listBytes, cudaMemcpyHostToDevice), "upload");
        const int blocks = (n + kWarps - 1) / kWarps;
        relativeMax<<<blocks, dim3(32, kWarps)>>>(dFeatures, dNeighbors, dEdge, n, k, pairs);
        check(cudaGetLastError(), "launch");
        check(cudaMemcpy(features.data(), dEdge, bytes, cudaMemcpyDeviceToHost), "download");
        check(cudaFree(dFeatures), "free");
        check(cudaFree(dEdge), "free");
        check(cudaFree(dNeighbors), "free");
        std::ofstream out("data/edge.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(features.data()), bytes);
        out.close();
        if (!out) throw std::runtime_error("data/edge.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
