#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

__global__ void invert(const uint8_t* last, const int* primary, uint8_t* text, int* successors, int strings,
                       int length) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= strings) return;
    const uint8_t* bytes = last + static_cast<size_t>(row) * length;
    int* successor = successors + static_cast<size_t>(row) * length;
    int starts[257] = {};
    for (int i = 0; i < length; ++i) ++starts[bytes[i] + 1];
    for (int b = 0; b < 256; ++b) starts[b + 1] += starts[b];
    for (int i = 0; i < length; ++i) successor[starts[bytes[i]]++] = i;
    int at = primary[row];
    for (int k = 0; k < length; ++k) {
        at = successor[at];
        text[static_cast<size_t>(row) * length + k] = bytes[at];
    }
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
    int* dSuccessors;
    CU(cudaMalloc(&dSuccessors, count * sizeof(int)));
    invert<<<(strings + 63) / 64, 64>>>(dLast, dPrimary, dText, dSuccessors, strings, length);
    CU(cudaDeviceSynchronize());
    CU(cudaFree(dSuccessors));
    CU(cudaGetLastError());
    CU(cudaMemcpy(bytes.data(), dText, count, cudaMemcpyDeviceToHost));
    CU(cudaFree(dLast));
    CU(cudaFree(dText));
    CU(cudaFree(dPrimary));
    std::FILE* file = std::fopen("data/text.bin", "wb");
    if (!file || std::fwrite(bytes.data(), 1, count, file) != count || std::fclose(file) != 0) return 1;
    return 0;
}
