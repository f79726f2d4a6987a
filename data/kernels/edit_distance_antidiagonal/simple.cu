#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_PAIRS = 65535, MAX_WIDTH = 1024;

#define CUDA(call)                                                                   \
    do {                                                                             \
        cudaError_t err = call;                                                      \
        if (err != cudaSuccess) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err));     \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

template <typename T>
std::vector<T> slurp(const char* name, size_t count) {
    std::vector<T> data(count);
    FILE* f = fopen(name, "rb");
    if (!f || fread(data.data(), sizeof(T), count, f) != count || fgetc(f) != EOF) {
        fprintf(stderr, "%s: not %zu items\n", name, count);
        exit(1);
    }
    fclose(f);
    return data;
}

template <typename T>
T* onDevice(const std::vector<T>& data) {
    T* p;
    CUDA(cudaMalloc(&p, data.size() * sizeof(T)));
    CUDA(cudaMemcpy(p, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

// One thread a pair; `row` is its line of the table, in global memory.
__global__ void distances(const uint8_t* left, const uint8_t* right, const int* lengths, int* result, int* scratch,
                          int pairs, int width) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const int rows = lengths[2 * pair], cols = lengths[2 * pair + 1];
    int* row = scratch + static_cast<size_t>(pair) * (width + 1);
    for (int j = 0; j <= cols; ++j) row[j] = j;
    for (int i = 1; i <= rows; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= cols; ++j) {
            const size_t start = static_cast<size_t>(pair) * width;
            const int substituted = diagonal + (left[start + i - 1] != right[start + j - 1]);
            diagonal = row[j];
            row[j] = min(substituted, min(row[j], row[j - 1]) + 1);
        }
    }
    result[pair] = row[cols];
}

int main() {
    const auto sizes = slurp<int>("data/sizes.bin", 2);
    const int pairs = sizes[0], width = sizes[1];
    if (pairs < 1 || pairs > MAX_PAIRS || width < 1 || width > MAX_WIDTH) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto lengths = slurp<int>("data/lengths.bin", 2 * static_cast<size_t>(pairs));
    for (int length : lengths) {
        if (length < 0 || length > width) return 1;
    }
    uint8_t* dLeft = onDevice(slurp<uint8_t>("data/left.bin", static_cast<size_t>(pairs) * width));
    uint8_t* dRight = onDevice(slurp<uint8_t>("data/right.bin", static_cast<size_t>(pairs) * width));
    int* dLengths = onDevice(lengths);
    int* dResult;
    CUDA(cudaMalloc(&dResult, pairs * sizeof(int)));
    int* dScratch;
    CUDA(cudaMalloc(&dScratch, static_cast<size_t>(pairs) * (width + 1) * sizeof(int)));
    distances<<<(pairs + 63) / 64, 64>>>(dLeft, dRight, dLengths, dResult, dScratch, pairs, width);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(dScratch));
    CUDA(cudaGetLastError());
    std::vector<int> result(pairs);
    CUDA(cudaMemcpy(result.data(), dResult, pairs * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(dLeft));
    CUDA(cudaFree(dRight));
    CUDA(cudaFree(dLengths));
    CUDA(cudaFree(dResult));
    FILE* f = fopen("data/distances.bin", "wb");
    if (!f || fwrite(result.data(), sizeof(int), pairs, f) != static_cast<size_t>(pairs) || fclose(f) != 0) return 1;
    return 0;
}
