#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using u64 = unsigned long long;

constexpr u64 kMultiplier = 6364136223846793005ULL;
constexpr u64 kIncrement = 1442695040888963407ULL;
constexpr int kPerThread = 16;
constexpr int kThreads = 256;
constexpr int kMaxLength = 1 << 24;

__device__ u64 skip(u64 state, u64 steps) {
    u64 a = kMultiplier, c = kIncrement;  // the map of 2^bit steps
    while (steps > 0) {
        if (steps & 1ULL) {
            state = a * state + c;
        }
        c = (a + 1ULL) * c;
        a = a * a;
        steps >>= 1;
    }
    return state;
}

__global__ void generate(u64 seed, uint32_t* stream, u64* finalState, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = thread * kPerThread;
    if (first >= n) return;

    u64 state = skip(seed, static_cast<u64>(first));
    const int last = min(first + kPerThread, n);
    for (int i = first; i < last; ++i) {
        state = kMultiplier * state + kIncrement;
        stream[i] = static_cast<uint32_t>(state >> 32);
    }
    if (last == n) *finalState = state;
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}

// The only value of a file.
template <typename T>
static T readNumber(const char* path) {
    T value{};
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(&value, sizeof(value), 1, file) != 1 || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected one number of %zu bytes\n", path, sizeof(value));
        std::exit(EXIT_FAILURE);
    }
    std::fclose(file);
    return value;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file) return false;
    bool complete = std::fwrite(data, 1, bytes, file) == bytes;
    return std::fclose(file) == 0 && complete;
}

int main() {
    const int n = readNumber<int>("data/sizes.bin");
    const u64 seed = readNumber<u64>("data/seed.bin");
    if (n < 1 || n > kMaxLength) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxLength);
        return EXIT_FAILURE;
    }

    uint32_t* dStream = nullptr;
    u64* dFinal = nullptr;
    check(cudaMalloc(&dStream, n * sizeof(uint32_t)), "allocate the stream");
    check(cudaMalloc(&dFinal, sizeof(u64)), "allocate the state");

    const int threads = (n + kPerThread - 1) / kPerThread;
    const int blocks = (threads + kThreads - 1) / kThreads;
    generate<<<blocks, kThreads>>>(seed, dStream, dFinal, n);
    check(cudaGetLastError(), "launch");

    std::vector<uint32_t> stream(n);
    u64 finalState = 0;
    check(cudaMemcpy(stream.data(), dStream, n * sizeof(uint32_t), cudaMemcpyDeviceToHost), "copy the stream");
    check(cudaMemcpy(&finalState, dFinal, sizeof(u64), cudaMemcpyDeviceToHost), "copy the state");
    check(cudaFree(dStream), "free");
    check(cudaFree(dFinal), "free");

    bool written = writeFile("data/stream.bin", stream.data(), n * sizeof(uint32_t));
    written = writeFile("data/final_state.bin", &finalState, sizeof(finalState)) && written;
    if (!written) std::fprintf(stderr, "an output file could not be written\n");
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
