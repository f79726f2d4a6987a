#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void must(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}
#define GPU(call) must((call) == cudaSuccess, cudaGetErrorString(cudaGetLastError()))

template <typename T>
static std::vector<T> readValues(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    must(file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

static void writeBytes(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    must(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0, path);
}

constexpr int THREADS = 256, WINDOW = 64;
constexpr int TILE = THREADS * 32;  // a thread decides 32 bytes, which is one word of the result

__global__ void findBoundaries(const uint8_t* __restrict__ text, const uint64_t* __restrict__ gear,
                               uint32_t* __restrict__ boundaries, int* count, int n, int bits) {
    __shared__ uint64_t table[256];
    __shared__ uint8_t tile[TILE + TILE / 32 + WINDOW + 2];  // a byte of padding every 32 bytes
    table[threadIdx.x] = gear[threadIdx.x];
    const long long start = static_cast<long long>(blockIdx.x) * TILE - WINDOW;
    for (int i = threadIdx.x; i < TILE + WINDOW; i += THREADS) {
        const long long at = start + i;
        if (at >= 0 && at < n) tile[i + i / 32] = text[at];
    }
    __syncthreads();
    const int first = threadIdx.x * 32;  // in the tile, without the window before it
    uint64_t hash = 0;
    for (int i = first + 1; i < first + WINDOW; ++i) {
        if (start + i >= 0 && start + i < n) hash = (hash << 1) + table[tile[i + i / 32]];
    }
    uint32_t word = 0;
    for (int k = 0; k < 32; ++k) {
        const int i = first + WINDOW + k;
        if (start + i >= n) break;
        hash = (hash << 1) + table[tile[i + i / 32]];
        if (hash >> (64 - bits) == 0) word |= 1u << k;
    }
    const long long wordIndex = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    if (wordIndex < (n + 31LL) / 32) boundaries[wordIndex] = word;
    const int found = __reduce_add_sync(0xffffffffu, __popc(word));
    if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(count, found);
}

int main() {
    const std::vector<int> sizes = readValues<int>("data/sizes.bin", 2);
    const int n = sizes[0], bits = sizes[1];
    must(n >= 1 && n <= 8000000 && bits >= 1 && bits <= 20, "data/sizes.bin: out of range");
    const std::vector<uint8_t> text = readValues<uint8_t>("data/text.bin", n);
    const std::vector<uint64_t> gear = readValues<uint64_t>("data/gear.bin", 256);
    const size_t words = (static_cast<size_t>(n) + 31) / 32;
    uint8_t* dText;
    uint64_t* dGear;
    uint32_t* dBoundaries;
    int *dCount, count;
    GPU(cudaMalloc(&dText, n));
    GPU(cudaMalloc(&dGear, 256 * sizeof(uint64_t)));
    GPU(cudaMalloc(&dBoundaries, words * sizeof(uint32_t)));
    GPU(cudaMalloc(&dCount, sizeof(int)));
    GPU(cudaMemcpy(dText, text.data(), n, cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dGear, gear.data(), 256 * sizeof(uint64_t), cudaMemcpyHostToDevice));
    GPU(cudaMemset(dCount, 0, sizeof(int)));
    const int threads = 256, blocks = static_cast<int>((words + threads - 1) / threads);
    findBoundaries<<<blocks, threads>>>(dText, dGear, dBoundaries, dCount, n, bits);
    GPU(cudaGetLastError());
    std::vector<uint32_t> boundaries(words);
    GPU(cudaMemcpy(boundaries.data(), dBoundaries, words * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(&count, dCount, sizeof(int), cudaMemcpyDeviceToHost));
    writeBytes("data/boundaries.bin", boundaries.data(), words * sizeof(uint32_t));
    writeBytes("data/count.bin", &count, sizeof count);
    GPU(cudaFree(dText));
    GPU(cudaFree(dGear));
    GPU(cudaFree(dBoundaries));
    GPU(cudaFree(dCount));
    return 0;
}
