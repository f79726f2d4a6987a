#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MAX_ROWS 65536
#define MAX_COLS 1024  // a power of two: the largest network

#define CHECK(call)                                                               \
    do {                                                                          \
        cudaError_t rc = (call);                                                  \
        if (rc != cudaSuccess) {                                                  \
            fprintf(stderr, "%s at line %d\n", cudaGetErrorString(rc), __LINE__); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

__device__ bool comesAfter(float keyA, int indexA, float keyB, int indexB) {
    return keyA > keyB || (keyA == keyB && indexA > indexB);
}

// Launched with padded / 2 threads; padded is a power of two, cols <= padded <= MAX_COLS.
__global__ void sortRows(const float* __restrict__ keys, float* __restrict__ sortedKeys, int* __restrict__ order,
                         int cols, int padded) {
    __shared__ float key[MAX_COLS];
    __shared__ int index[MAX_COLS];
    const size_t rowStart = static_cast<size_t>(blockIdx.x) * cols;
    const int t = threadIdx.x;

    for (int p = t; p < padded; p += padded / 2) {
        key[p] = p < cols ? keys[rowStart + p] : INFINITY;
        index[p] = p;
    }
    __syncthreads();

    for (int size = 2; size <= padded; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int low = 2 * t - (t & (stride - 1));
            int high = low + stride;
            bool ascending = (low & size) == 0;
            float keyLow = key[low], keyHigh = key[high];
            int indexLow = index[low], indexHigh = index[high];
            if (comesAfter(keyLow, indexLow, keyHigh, indexHigh) == ascending) {
                key[low] = keyHigh;
                key[high] = keyLow;
                index[low] = indexHigh;
                index[high] = indexLow;
            }
            __syncthreads();
        }
    }

    for (int p = t; p < cols; p += padded / 2) {
        sortedKeys[rowStart + p] = key[p];
        order[rowStart + p] = index[p];
    }
}

static void writeFile(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    bool good = file != nullptr && fwrite(data, 1, bytes, file) == bytes;
    if (file != nullptr && fclose(file) != 0) good = false;
    if (!good) {
        fprintf(stderr, "%s: write failed\n", path);
        exit(1);
    }
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (file == nullptr) {
        fprintf(stderr, "%s: cannot open\n", path);
        exit(1);
    }
    bool exact = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > MAX_ROWS || cols < 1 || cols > MAX_COLS) {
        fprintf(stderr, "data/sizes.bin: %d rows of %d keys are out of range\n", rows, cols);
        return 1;
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    std::vector<float> keys(count);
    std::vector<int> order(count);
    readFile("data/keys.bin", keys.data(), count * sizeof(float));

    float *dKeys, *dSorted;
    int* dOrder;
    CHECK(cudaMalloc(&dKeys, count * sizeof(float)));
    CHECK(cudaMalloc(&dSorted, count * sizeof(float)));
    CHECK(cudaMalloc(&dOrder, count * sizeof(int)));
    CHECK(cudaMemcpy(dKeys, keys.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    int padded = 2;
    while (padded < cols) padded *= 2;
    sortRows<<<rows, padded / 2>>>(dKeys, dSorted, dOrder, cols, padded);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpy(keys.data(), dSorted, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(order.data(), dOrder, count * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dKeys));
    CHECK(cudaFree(dSorted));
    CHECK(cudaFree(dOrder));

    writeFile("data/sorted_keys.bin", keys.data(), count * sizeof(float));
    writeFile("data/order.bin", order.data(), count * sizeof(int));
    return 0;
}
