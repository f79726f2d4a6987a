#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256, kMaxItems = 512, kMaxTarget = 65535;
constexpr int kMaxWords = kMaxTarget / 32 + 1;

__global__ void subsetSums(const int* __restrict__ weights, int items, int target, uint32_t* __restrict__ reachable,
                           int* __restrict__ closest) {
    __shared__ uint32_t bits[2][kMaxWords];
    __shared__ int highest;
    const int words = target / 32 + 1;
    const int* mine = weights + static_cast<size_t>(blockIdx.x) * items;
    for (int i = threadIdx.x; i < words; i += kThreads) bits[0][i] = i == 0 ? 1 : 0;
    if (threadIdx.x == 0) highest = 0;
    __syncthreads();

    int now = 0;
    for (int k = 0; k < items; ++k) {
        const int weight = mine[k];
        if (weight > target) continue;  // the same for the whole block
        const int q = weight / 32, r = weight % 32;
        const uint32_t* from = bits[now];
        uint32_t* to = bits[now ^ 1];
        for (int i = threadIdx.x; i < words; i += kThreads) {
            const uint32_t upper = i >= q ? from[i - q] : 0;
            const uint32_t lower = i > q ? from[i - q - 1] : 0;
            to[i] = from[i] | __funnelshift_l(lower, upper, r);
        }
        __syncthreads();
        now ^= 1;
    }

    int top = 0;
    for (int i = threadIdx.x; i < words; i += kThreads) {
        uint32_t word = bits[now][i];
        if (i == words - 1) word &= 0xffffffffu >> (31 - target % 32);
        reachable[static_cast<size_t>(blockIdx.x) * words + i] = word;
        if (word != 0) top = 32 * i + 31 - __clz(static_cast<int>(word));
    }
    atomicMax(&highest, top);
    __syncthreads();
    if (threadIdx.x == 0) closest[blockIdx.x] = highest;
}

#define OK(call) succeeded((call), #call)

static void succeeded(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
    exit(1);
}

static void readInts(const char* path, std::vector<int>& values) {
    FILE* file = fopen(path, "rb");
    const bool good = file && fread(values.data(), sizeof(int), values.size(), file) == values.size();
    if (!good || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu int32 values\n", path, values.size());
        exit(1);
    }
    fclose(file);
}

static void writeBytes(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    std::vector<int> sizes(3);
    readInts("data/sizes.bin", sizes);
    const int sets = sizes[0], items = sizes[1], target = sizes[2];
    if (sets < 1 || sets > 65535 || items < 1 || items > kMaxItems || target < 1 || target > kMaxTarget) {
        fprintf(stderr, "data/sizes.bin: sets %d, items %d, target %d\n", sets, items, target);
        return 1;
    }
    std::vector<int> weights(static_cast<size_t>(sets) * items), closest(sets);
    readInts("data/weights.bin", weights);
    for (int weight : weights) {
        if (weight < 1) {
            fprintf(stderr, "data/weights.bin: a weight of %d\n", weight);
            return 1;
        }
    }
    std::vector<uint32_t> reachable(static_cast<size_t>(sets) * (target / 32 + 1));

    cudaStream_t stream;
    int *dWeights, *dClosest;
    uint32_t* dReachable;
    const size_t weightBytes = weights.size() * sizeof(int), bitBytes = reachable.size() * sizeof(uint32_t);
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&dWeights, weightBytes, stream));
    OK(cudaMallocAsync(&dReachable, bitBytes, stream));
    OK(cudaMallocAsync(&dClosest, sets * sizeof(int), stream));
    OK(cudaMemcpyAsync(dWeights, weights.data(), weightBytes, cudaMemcpyHostToDevice, stream));
    subsetSums<<<sets, kThreads, 0, stream>>>(dWeights, items, target, dReachable, dClosest);
    OK(cudaGetLastError());
    OK(cudaMemcpyAsync(reachable.data(), dReachable, bitBytes, cudaMemcpyDeviceToHost, stream));
    OK(cudaMemcpyAsync(closest.data(), dClosest, sets * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(dWeights, stream));
    OK(cudaFreeAsync(dReachable, stream));
    OK(cudaFreeAsync(dClosest, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    writeBytes("data/reachable.bin", reachable.data(), bitBytes);
    writeBytes("data/closest.bin", closest.data(), sets * sizeof(int));
    return 0;
}
