#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int MAX_LENGTH = 2048;

// The palindrome around centre c, 0 <= c < 2 * length - 1: its length, and below it the complement of its start.
__device__ unsigned palindromeAt(const uint8_t* text, int length, int c) {
    int left = c / 2, right = (c + 1) / 2;
    while (left >= 0 && right < length && text[left] == text[right]) {
        --left;
        ++right;
    }
    const unsigned size = right - left - 1, start = left + 1;
    return size << 16 | (0xffffu - start);
}

__global__ void longest(const uint8_t* text, int2* best, int strings, int length) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= strings) return;
    unsigned found = 0;
    for (int c = 0; c < 2 * length - 1; ++c) {
        found = max(found, palindromeAt(text + static_cast<size_t>(row) * length, length, c));
    }
    best[row] = make_int2(static_cast<int>(0xffffu - (found & 0xffffu)), static_cast<int>(found >> 16));
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void readInto(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool good = file && fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!good) throw std::runtime_error(std::string("wrong or missing file: ") + path);
}

static void run() {
    int sizes[2];
    readInto("data/sizes.bin", sizes, sizeof sizes);
    const int strings = sizes[0], length = sizes[1];
    if (strings < 1 || strings > 65535 || length < 1 || length > MAX_LENGTH) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    std::vector<uint8_t> text(static_cast<size_t>(strings) * length);
    readInto("data/text.bin", text.data(), text.size());
    std::vector<int2> best(strings);
    uint8_t* dText;
    int2* dBest;
    check(cudaMalloc(&dText, text.size()));
    check(cudaMalloc(&dBest, strings * sizeof(int2)));
    check(cudaMemcpy(dText, text.data(), text.size(), cudaMemcpyHostToDevice));
    longest<<<(strings + 63) / 64, 64>>>(dText, dBest, strings, length);
    check(cudaGetLastError());
    check(cudaMemcpy(best.data(), dBest, strings * sizeof(int2), cudaMemcpyDeviceToHost));
    check(cudaFree(dText));
    check(cudaFree(dBest));
    FILE* file = fopen("data/best.bin", "wb");
    const bool good = file && fwrite(best.data(), sizeof(int2), best.size(), file) == best.size();
    if (!file || fclose(file) != 0 || !good) throw std::runtime_error("data/best.bin cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
