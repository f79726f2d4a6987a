#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                           \
            std::fprintf(stderr, "%s, line %d: %s\n", #call, __LINE__, cudaGetErrorString(status)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

constexpr int kThreads = 256;
constexpr int kMaxBlocks = kThreads;  // the last block reads one sum per thread
constexpr int kMaxPoints = 1 << 25;

struct Moments {
    double x, y, z;  // weighted coordinates
    double weight;
};

__device__ __forceinline__ Moments operator+(const Moments& a, const Moments& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.weight + b.weight};
}

// The sum over the block, for thread 0; every thread must call it.
__device__ Moments blockSum(const Moments& own) {
    __shared__ Moments tree[kThreads];
    tree[threadIdx.x] = own;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] = tree[threadIdx.x] + tree[threadIdx.x + half];
        __syncthreads();
    }
    return tree[0];
}

__global__ void centroidKernel(const float* __restrict__ points, const float* __restrict__ weights, int n,
                               Moments* blockSums, unsigned* tickets, double* results) {
    __shared__ bool isLast;

    Moments own = {};
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const float* p = points + 3 * i;
        const double w = weights[i];
        own = own + Moments{w * p[0], w * p[1], w * p[2], w};
    }
    const Moments sum = blockSum(own);
    if (threadIdx.x == 0) {
        blockSums[blockIdx.x] = sum;
        __threadfence();  // the sum is visible before the ticket is drawn
        isLast = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!isLast) return;

    __threadfence();
    const Moments all = blockSum(threadIdx.x < gridDim.x ? blockSums[threadIdx.x] : Moments{});
    if (threadIdx.x == 0) {
        const double scale = all.weight > 0.0 ? 1.0 / all.weight : 0.0;
        results[0] = all.x * scale;
        results[1] = all.y * scale;
        results[2] = all.z * scale;
        results[3] = all.weight;
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamsize bytes = count * sizeof(T);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

static bool writeDoubles(const char* path, const double* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(double));
    out.close();
    return static_cast<bool>(out);
}

int main() {
    const int n = readFile<int>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxPoints) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxPoints);
        return EXIT_FAILURE;
    }
    const std::vector<float> points = readFile<float>("data/points.bin", 3 * static_cast<size_t>(n));
    const std::vector<float> weights = readFile<float>("data/weights.bin", n);

    float *dPoints = nullptr, *dWeights = nullptr;
    Moments* dSums = nullptr;
    unsigned* dTickets = nullptr;
    double* dResults = nullptr;
    const int blocks = std::min((n + kThreads - 1) / kThreads, kMaxBlocks);
    CUDA_CHECK(cudaMalloc(&dPoints, points.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dWeights, weights.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dSums, blocks * sizeof(Moments)));
    CUDA_CHECK(cudaMalloc(&dTickets, sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&dResults, 4 * sizeof(double)));
    CUDA_CHECK(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dWeights, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(dTickets, 0, sizeof(unsigned)));

    centroidKernel<<<blocks, kThreads>>>(dPoints, dWeights, n, dSums, dTickets, dResults);
    CUDA_CHECK(cudaGetLastError());

    double results[4];
    CUDA_CHECK(cudaMemcpy(results, dResults, sizeof(results), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dPoints));
    CUDA_CHECK(cudaFree(dWeights));
    CUDA_CHECK(cudaFree(dSums));
    CUDA_CHECK(cudaFree(dTickets));
    CUDA_CHECK(cudaFree(dResults));
    if (!writeDoubles("data/centroid.bin", results, 3) || !writeDoubles("data/total_weight.bin", results + 3, 1)) {
        std::fprintf(stderr, "an output file could not be written\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
