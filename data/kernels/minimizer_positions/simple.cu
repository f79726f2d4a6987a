#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WORD = 15, MAX_LENGTH = 2048, MAX_WINDOW = 64;

#define HANDLE(call)                                                              \
    do {                                                                          \
        cudaError_t bad = (call);                                                 \
        if (bad != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s (%s)\n", cudaGetErrorString(bad), #call);    \
            std::exit(1);                                                         \
        }                                                                         \
    } while (0)

static void readExact(const char* path, void* target, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(target, 1, bytes, file) != bytes || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: not %zu bytes\n", path, bytes);
        std::exit(1);
    }
    std::fclose(file);
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    HANDLE(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(int), count, file) != count || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot write\n", path);
        std::exit(1);
    }
}

__device__ __forceinline__ uint32_t codeOf(uint8_t base) {
    return base == 'A' ? 0 : base == 'C' ? 1 : base == 'G' ? 2 : 3;
}

// One thread finds the minimizer of one window, word by word.
__global__ void findMinimizers(const uint8_t* bases, int* positions, int reads, int length, int window, int windows) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<size_t>(reads) * windows) return;
    const int first = static_cast<int>(i % windows);
    const uint8_t* read = bases + i / windows * length;
    uint32_t smallest = 0;
    int place = -1;
    for (int at = first; at < first + window; ++at) {
        uint32_t word = 0;
        for (int k = 0; k < WORD; ++k) word = 4 * word + codeOf(read[at + k]);
        word *= 0x9E3779B1u;
        if (place < 0 || word < smallest) {
            smallest = word;
            place = at;
        }
    }
    positions[i] = place;
}

__global__ void countDistinct(const int* positions, int* distinct, int reads, int windows) {
    const int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= reads) return;
    const int* mine = positions + static_cast<size_t>(read) * windows;
    int changes = 1;
    for (int i = 1; i < windows; ++i) changes += mine[i] != mine[i - 1];
    distinct[read] = changes;
}

int main() {
    int sizes[3];
    readExact("data/sizes.bin", sizes, sizeof sizes);
    const int reads = sizes[0], length = sizes[1], window = sizes[2];
    const bool inRange = reads >= 1 && reads <= 65535 && length >= 32 && length <= MAX_LENGTH;
    if (!inRange || window < 2 || window > MAX_WINDOW || length - WORD + 1 < window) {
        std::fprintf(stderr, "data/sizes.bin: %d reads of %d, window %d\n", reads, length, window);
        return 1;
    }
    const int windows = length - WORD + 1 - window + 1;
    std::vector<uint8_t> bases(static_cast<size_t>(reads) * length);
    readExact("data/bases.bin", bases.data(), bases.size());
    uint8_t* dBases;
    int *dPositions, *dDistinct;
    HANDLE(cudaMalloc(&dBases, bases.size()));
    HANDLE(cudaMalloc(&dPositions, static_cast<size_t>(reads) * windows * sizeof(int)));
    HANDLE(cudaMalloc(&dDistinct, reads * sizeof(int)));
    HANDLE(cudaMemcpy(dBases, bases.data(), bases.size(), cudaMemcpyHostToDevice));
    const size_t total = static_cast<size_t>(reads) * windows;
    findMinimizers<<<static_cast<unsigned>((total + 127) / 128), 128>>>(dBases, dPositions, reads, length, window,
                                                                        windows);
    countDistinct<<<(reads + 127) / 128, 128>>>(dPositions, dDistinct, reads, windows);
    HANDLE(cudaGetLastError());
    writeInts("data/positions.bin", dPositions, static_cast<size_t>(reads) * windows);
    writeInts("data/distinct.bin", dDistinct, reads);
    HANDLE(cudaFree(dBases));
    HANDLE(cudaFree(dPositions));
    HANDLE(cudaFree(dDistinct));
    return 0;
}
