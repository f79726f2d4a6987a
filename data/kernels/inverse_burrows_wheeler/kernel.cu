#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CU(call)                                                                                 \
    do {                                                                                         \
        if (const cudaError_t s_ = (call); s_ != cudaSuccess) {                                  \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(s_));             \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

constexpr int MAX_STRINGS = 65535, MAX_LENGTH = 4096;

static void readBinary(const char* path, void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    const bool exact = file && std::fread(data, 1, bytes, file) == bytes && std::fgetc(file) == EOF;
    if (file) std::fclose(file);
    if (!exact) {
        std::fprintf(stderr, "%s: not %zu bytes\n", path, bytes);
        std::exit(1);
    }
}

constexpr int THREADS = 256;

// All of a string stays in shared memory; positions are 16-bit numbers.
__global__ void invert(const uint8_t* __restrict__ last, const int* __restrict__ primary, uint8_t* __restrict__ text,
                       int length) {
    __shared__ uint8_t bytes[MAX_LENGTH];
    __shared__ uint16_t successor[MAX_LENGTH], buffers[2][MAX_LENGTH];
    __shared__ int starts[256];
    const size_t begin = static_cast<size_t>(blockIdx.x) * length;
    starts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += THREADS) {
        bytes[i] = last[begin + i];
        atomicAdd(&starts[bytes[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < 256; ++b) {
            const int count = starts[b];
            starts[b] = sum;
            sum += count;
        }
    }
    __syncthreads();
    // Thread b lists the positions of byte b in ascending order: a stable counting sort.
    int next = starts[threadIdx.x];
    const int end = threadIdx.x == 255 ? length : starts[threadIdx.x + 1];
    for (int i = 0; next < end; ++i) {
        if (bytes[i] == threadIdx.x) successor[next++] = static_cast<uint16_t>(i);
    }
    __syncthreads();
    // Chain: place[k] is the position after k + 1 jumps. The known part doubles, by way of jumps that double too.
    uint16_t *jump = buffers[0], *longer = buffers[1];
    for (int i = threadIdx.x; i < length; i += THREADS) jump[i] = successor[i];
    __syncthreads();
    uint16_t* place = successor;
    const int start = jump[primary[blockIdx.x]];
    __syncthreads();
    if (threadIdx.x == 0) place[0] = static_cast<uint16_t>(start);
    __syncthreads();
    for (int known = 1; known < length; known *= 2) {
        for (int k = threadIdx.x; k < known && known + k < length; k += THREADS) place[known + k] = jump[place[k]];
        for (int i = threadIdx.x; i < length; i += THREADS) longer[i] = jump[jump[i]];
        __syncthreads();
        uint16_t* swap = jump;
        jump = longer;
        longer = swap;
    }
    for (int k = threadIdx.x; k < length; k += THREADS) text[begin + k] = bytes[place[k]];
}

int main() {
    int sizes[2];
    readBinary("data/sizes.bin", sizes, sizeof sizes);
    const int strings = sizes[0], length = sizes[1];
    if (strings < 1 || strings > MAX_STRINGS || length < 1 || length > MAX_LENGTH) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(strings) * length;
    std::vector<uint8_t> bytes(count);
    std::vector<int> primary(strings);
    readBinary("data/last.bin", bytes.data(), count);
    readBinary("data/primary.bin", primary.data(), strings * sizeof(int));
    for (int row : primary) {
        if (row < 0 || row >= length) return 1;
    }
    uint8_t *dLast, *dText;
    int* dPrimary;
    CU(cudaMalloc(&dLast, count));
    CU(cudaMalloc(&dText, count));
    CU(cudaMalloc(&dPrimary, strings * sizeof(int)));
    CU(cudaMemcpy(dLast, bytes.data(), count, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(dPrimary, primary.data(), strings * sizeof(int), cudaMemcpyHostToDevice));
    invert<<<strings, THREADS>>>(dLast, dPrimary, dText, length);
    CU(cudaGetLastError());
    CU(cudaMemcpy(bytes.data(), dText, count, cudaMemcpyDeviceToHost));
    CU(cudaFree(dLast));
    CU(cudaFree(dText));
    CU(cudaFree(dPrimary));
    std::FILE* file = std::fopen("data/text.bin", "wb");
    if (!file || std::fwrite(bytes.data(), 1, count, file) != count || std::fclose(file) != 0) return 1;
    return 0;
}
