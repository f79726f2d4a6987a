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

constexpr int THREADS = 128;

__global__ void distances(const uint8_t* left, const uint8_t* right, const int* lengths, int* result, int width) {
    __shared__ int diagonals[3][MAX_WIDTH + 1];  // indexed by the row i; the cell is (i, d - i)
    __shared__ uint8_t a[MAX_WIDTH], b[MAX_WIDTH];
    const int pair = blockIdx.x, rows = lengths[2 * pair], cols = lengths[2 * pair + 1];
    const size_t start = static_cast<size_t>(pair) * width;
    for (int i = threadIdx.x; i < rows; i += THREADS) a[i] = left[start + i];
    for (int j = threadIdx.x; j < cols; j += THREADS) b[j] = right[start + j];
    __syncthreads();
    for (int d = 0; d <= rows + cols; ++d) {
        int* now = diagonals[d % 3];
        const int* last = diagonals[(d + 2) % 3];
        const int* before = diagonals[(d + 1) % 3];
        for (int i = max(0, d - cols) + threadIdx.x; i <= min(rows, d); i += THREADS) {
            const int j = d - i;
            if (i == 0 || j == 0) {
                now[i] = d;
            } else {
                const int edited = min(last[i - 1], last[i]) + 1;
                now[i] = min(edited, before[i - 1] + (a[i - 1] != b[j - 1]));
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) result[pair] = diagonals[(rows + cols) % 3][rows];
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
    distances<<<pairs, THREADS>>>(dLeft, dRight, dLengths, dResult, width);
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
