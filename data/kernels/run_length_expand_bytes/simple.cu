#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(call)                                                                \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

constexpr int MAX_RUNS = 1024;

template <typename T>
static T* upload(const char* path, size_t count, T* copy = nullptr) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    for (size_t i = 0; copy && i < count; ++i) copy[i] = values[i];
    T* device;
    CUDA_OK(cudaMalloc(&device, count * sizeof(T)));
    CUDA_OK(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void download(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    CUDA_OK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) exit(1);
}

__global__ void expand(const uint8_t* symbols, const uint16_t* lengths, uint8_t* expanded, int* total, int rows,
                       int runs, int width) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    uint8_t* out = expanded + static_cast<size_t>(row) * width;
    int at = 0;
    for (int run = 0; run < runs; ++run) {
        const size_t place = static_cast<size_t>(row) * runs + run;
        for (int k = 0; k < lengths[place] && at + k < width; ++k) out[at + k] = symbols[place];
        at += lengths[place];
    }
    total[row] = at;
    for (int i = at; i < width; ++i) out[i] = 0;
}

int main() {
    int sizes[3];
    CUDA_OK(cudaFree(upload("data/sizes.bin", 3, sizes)));
    const int rows = sizes[0], runs = sizes[1], width = sizes[2];
    if (rows < 1 || rows > 65535 || runs < 1 || runs > MAX_RUNS || width < 1 || width > 8192) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    uint8_t* symbols = upload<uint8_t>("data/symbols.bin", static_cast<size_t>(rows) * runs);
    uint16_t* lengths = upload<uint16_t>("data/lengths.bin", static_cast<size_t>(rows) * runs);
    uint8_t* expanded;
    int* total;
    CUDA_OK(cudaMalloc(&expanded, static_cast<size_t>(rows) * width));
    CUDA_OK(cudaMalloc(&total, rows * sizeof(int)));
    expand<<<(rows + 63) / 64, 64>>>(symbols, lengths, expanded, total, rows, runs, width);
    CUDA_OK(cudaGetLastError());
    download("data/expanded.bin", expanded, static_cast<size_t>(rows) * width);
    download("data/total.bin", total, rows);
    CUDA_OK(cudaFree(symbols));
    CUDA_OK(cudaFree(lengths));
    return 0;
}
