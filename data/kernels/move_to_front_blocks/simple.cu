#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void fail(const char* where, const char* why) {
    fprintf(stderr, "%s: %s\n", where, why);
    exit(1);
}

#define CUDA(call)                                                                    \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) fail(#call, cudaGetErrorString(status));           \
    } while (0)

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path, "has the wrong length");
    fclose(file);
}

// One thread a block of text; the list is an array of its own.
__global__ void moveToFront(const uint8_t* text, uint8_t* ranks, int blocks, int length) {
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    uint8_t list[256];
    for (int k = 0; k < 256; ++k) list[k] = static_cast<uint8_t>(k);
    for (int i = 0; i < length; ++i) {
        const size_t at = static_cast<size_t>(block) * length + i;
        const uint8_t symbol = text[at];
        uint8_t carried = symbol;
        int rank = 0;
        for (;; ++rank) {
            const uint8_t here = list[rank];
            list[rank] = carried;
            if (here == symbol) break;
            carried = here;
        }
        ranks[at] = static_cast<uint8_t>(rank);
    }
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int blocks = sizes[0], length = sizes[1];
    if (blocks < 1 || blocks > 65535 || length < 1 || length > 8192) fail("data/sizes.bin", "out of range");
    std::vector<uint8_t> bytes(static_cast<size_t>(blocks) * length);
    readFile("data/text.bin", bytes.data(), bytes.size());
    uint8_t *text, *ranks;
    CUDA(cudaMalloc(&text, bytes.size()));
    CUDA(cudaMalloc(&ranks, bytes.size()));
    CUDA(cudaMemcpy(text, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    moveToFront<<<(blocks + 31) / 32, 32>>>(text, ranks, blocks, length);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(bytes.data(), ranks, bytes.size(), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(text));
    CUDA(cudaFree(ranks));
    FILE* file = fopen("data/ranks.bin", "wb");
    if (!file || fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) fail("data/ranks.bin", "not written");
    if (fclose(file) != 0) fail("data/ranks.bin", "not closed");
    return 0;
}
