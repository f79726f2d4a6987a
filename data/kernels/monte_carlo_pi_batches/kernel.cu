#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                               \
    do {                                                                                        \
        const cudaError_t status_ = (call);                                                     \
        if (status_ != cudaSuccess) {                                                           \
            std::fprintf(stderr, "line %d: CUDA: %s\n", __LINE__, cudaGetErrorString(status_)); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

constexpr int kThreads = 256;
constexpr int kSamplesPerBlock = 4096;
constexpr int kMaxBlocks = 256;  // per batch
constexpr int kMaxBatches = 4096;
constexpr int kMaxSamples = 1 << 24;

__device__ __forceinline__ bool isHit(uint64_t seed, int sample) {
    uint64_t z = seed + (sample + 1ULL) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    const uint64_t u = z >> 33;
    const uint64_t v = (z & 0xffffffffULL) >> 1;
    return u * u + v * v < 1ULL << 62;
}

__global__ void countHits(const uint64_t* __restrict__ seeds, int* hits, int samples) {
    __shared__ int blockHits;
    if (threadIdx.x == 0) blockHits = 0;
    __syncthreads();

    const uint64_t seed = seeds[blockIdx.y];
    int count = 0;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < samples; i += gridDim.x * kThreads) {
        count += isHit(seed, i);
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (threadIdx.x % 32 == 0) atomicAdd(&blockHits, count);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&hits[blockIdx.y], blockHits);
}

__global__ void estimatePi(const int* __restrict__ hits, double* __restrict__ estimates, int batches, int samples) {
    const int b = blockIdx.x * kThreads + threadIdx.x;
    if (b < batches) estimates[b] = 4.0 * hits[b] / samples;
}

static void readExactly(const char* path, void* target, size_t size, size_t count) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(target, size, count, file) != count || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, size);
        std::exit(1);
    }
    std::fclose(file);
}

template <typename T>
static void writeFromDevice(const char* path, const T* device, size_t count) {
    std::vector<T> host(count);
    TRY(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    const bool complete = file && std::fwrite(host.data(), sizeof(T), count, file) == count;
    if (!file || std::fclose(file) != 0 || !complete) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(1);
    }
}

int main() {
    int32_t sizes[2];
    readExactly("data/sizes.bin", sizes, sizeof(int32_t), 2);
    const int batches = sizes[0], samples = sizes[1];
    if (batches < 1 || batches > kMaxBatches || samples < 1 || samples > kMaxSamples) {
        std::fprintf(stderr, "data/sizes.bin: %d batches of %d samples are not supported\n", batches, samples);
        return 1;
    }
    std::vector<uint64_t> seeds(batches);
    readExactly("data/seeds.bin", seeds.data(), sizeof(uint64_t), batches);

    uint64_t* dSeeds = nullptr;
    int* dHits = nullptr;
    double* dEstimates = nullptr;
    TRY(cudaMalloc(&dSeeds, batches * sizeof(uint64_t)));
    TRY(cudaMalloc(&dHits, batches * sizeof(int)));
    TRY(cudaMalloc(&dEstimates, batches * sizeof(double)));
    TRY(cudaMemcpy(dSeeds, seeds.data(), batches * sizeof(uint64_t), cudaMemcpyHostToDevice));
    TRY(cudaMemset(dHits, 0, batches * sizeof(int)));

    const dim3 grid(std::min((samples + kSamplesPerBlock - 1) / kSamplesPerBlock, kMaxBlocks), batches);
    countHits<<<grid, kThreads>>>(dSeeds, dHits, samples);
    TRY(cudaGetLastError());
    estimatePi<<<(batches + kThreads - 1) / kThreads, kThreads>>>(dHits, dEstimates, batches, samples);
    TRY(cudaGetLastError());

    writeFromDevice("data/hits.bin", dHits, batches);
    writeFromDevice("data/estimates.bin", dEstimates, batches);
    TRY(cudaFree(dSeeds));
    TRY(cudaFree(dHits));
    TRY(cudaFree(dEstimates));
    return 0;
}
