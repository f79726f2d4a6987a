#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

constexpr int kThreads = 256;
constexpr int kPerThread = 4;
constexpr int kMaxLength = 1 << 26;

__device__ __forceinline__ uint32_t hashIndex(uint32_t i, uint32_t seed) {
    uint32_t h = i * 0x9E3779B9u + seed;
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ (h >> 16);
}

__device__ __forceinline__ uint16_t roundElement(float value, uint32_t i, uint32_t seed) {
    return static_cast<uint16_t>((__float_as_uint(value) + (hashIndex(i, seed) & 0xffffu)) >> 16);
}

__global__ void roundStochastically(const float* __restrict__ x, uint16_t* __restrict__ rounded, int n,
                                    uint32_t seed) {
    const int first = (blockIdx.x * kThreads + threadIdx.x) * kPerThread;
    if (first + kPerThread <= n) {
        const float4 v = *reinterpret_cast<const float4*>(x + first);
        *reinterpret_cast<ushort4*>(rounded + first) =
            make_ushort4(roundElement(v.x, first, seed), roundElement(v.y, first + 1, seed),
                         roundElement(v.z, first + 2, seed), roundElement(v.w, first + 3, seed));
    } else {
        for (int i = first; i < n; ++i) rounded[i] = roundElement(x[i], i, seed);
    }
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}

// Fills the target from a file of exactly this length.
static void readFile(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes || !in.seekg(0).read(static_cast<char*>(target), bytes)) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int32_t n;
    uint32_t seed;
    readFile("data/sizes.bin", &n, sizeof(n));
    readFile("data/seed.bin", &seed, sizeof(seed));
    if (n < 1 || n > kMaxLength) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxLength);
        return EXIT_FAILURE;
    }
    const size_t inputBytes = n * sizeof(float), outputBytes = n * sizeof(uint16_t);

    float *hostX = nullptr, *deviceX = nullptr;
    uint16_t *hostRounded = nullptr, *deviceRounded = nullptr;
    cudaStream_t stream;
    check(cudaMallocHost(&hostX, inputBytes), "allocate the host input");
    check(cudaMallocHost(&hostRounded, outputBytes), "allocate the host output");
    check(cudaMalloc(&deviceX, inputBytes), "allocate the device input");
    check(cudaMalloc(&deviceRounded, outputBytes), "allocate the device output");
    check(cudaStreamCreate(&stream), "create the stream");
    readFile("data/x.bin", hostX, inputBytes);

    constexpr int kPerBlock = kThreads * kPerThread;
    check(cudaMemcpyAsync(deviceX, hostX, inputBytes, cudaMemcpyHostToDevice, stream), "upload");
    roundStochastically<<<(n + kPerBlock - 1) / kPerBlock, kThreads, 0, stream>>>(deviceX, deviceRounded, n, seed);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpyAsync(hostRounded, deviceRounded, outputBytes, cudaMemcpyDeviceToHost, stream), "download");
    check(cudaStreamSynchronize(stream), "run");

    std::ofstream out("data/rounded.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(hostRounded), outputBytes);
    out.close();
    const bool written = static_cast<bool>(out);
    if (!written) std::fprintf(stderr, "data/rounded.bin: cannot be written\n");

    check(cudaStreamDestroy(stream), "destroy the stream");
    check(cudaFree(deviceX), "free the device input");
    check(cudaFree(deviceRounded), "free the device output");
    check(cudaFreeHost(hostX), "free the host input");
    check(cudaFreeHost(hostRounded), "free the host output");
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
