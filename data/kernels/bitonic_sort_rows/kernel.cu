#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define ROWS 400
#define COLS 1000
#define PADDED 1024
#define THREADS (PADDED / 2)

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

__global__ void sortRows(const float* __restrict__ keys, float* __restrict__ sortedKeys, int* __restrict__ order) {
    __shared__ float key[PADDED];
    __shared__ int index[PADDED];
    const size_t rowStart = static_cast<size_t>(blockIdx.x) * COLS;
    const int t = threadIdx.x;

    for (int p = t; p < PADDED; p += THREADS) {
        key[p] = p < COLS ? keys[rowStart + p] : INFINITY;
        index[p] = p;
    }
    __syncthreads();

    for (int size = 2; size <= PADDED; size *= 2) {
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

    for (int p = t; p < COLS; p += THREADS) {
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

int main() {
    const size_t count = static_cast<size_t>(ROWS) * COLS;
    std::vector<float> keys(count);
    std::vector<int> order(count);

    FILE* file = fopen("data/keys.bin", "rb");
    if (file == nullptr) {
        fprintf(stderr, "data/keys.bin: cannot open\n");
        return 1;
    }
    bool exact = fread(keys.data(), sizeof(float), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    if (!exact) {
        fprintf(stderr, "data/keys.bin: expected %zu floats\n", count);
        return 1;
    }

    float *dKeys, *dSorted;
    int* dOrder;
    CHECK(cudaMalloc(&dKeys, count * sizeof(float)));
    CHECK(cudaMalloc(&dSorted, count * sizeof(float)));
    CHECK(cudaMalloc(&dOrder, count * sizeof(int)));
    CHECK(cudaMemcpy(dKeys, keys.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    sortRows<<<ROWS, THREADS>>>(dKeys, dSorted, dOrder);
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
