#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// A thread per pair with one row of the table, at row[j * pairs].
__global__ void alignPairs(const float* a, const float* b, float* rows, float* cost, int pairs, int length, int band) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const float* x = a + (size_t)pair * length;
    const float* y = b + (size_t)pair * length;
    float* row = rows + pair;
    const float far = 3.0e38f;
    for (int j = 0; j < length; ++j) row[(size_t)j * pairs] = far;
    for (int i = 0; i < length; ++i) {
        const int first = max(0, i - band), last = min(length - 1, i + band);
        float left = far;
        float diagonal = first > 0 ? row[(size_t)(first - 1) * pairs] : far;
        if (i == 0) diagonal = 0.0f;
        for (int j = first; j <= last; ++j) {
            const float above = row[(size_t)j * pairs];
            left = fabsf(x[i] - y[j]) + fminf(fminf(above, left), diagonal);
            row[(size_t)j * pairs] = left;
            diagonal = above;
        }
        if (first > 0) row[(size_t)(first - 1) * pairs] = far;  // out of the band from here on
    }
    cost[pair] = row[(size_t)(length - 1) * pairs];
}

#define CHECK(call)                                                                    \
    do {                                                                               \
        const cudaError_t status_ = (call);                                            \
        if (status_ != cudaSuccess) {                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status_));   \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& host) {
    T* device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int pairs = sizes[0], length = sizes[1], band = sizes[2];
    if (pairs < 1 || pairs > 65535 || length < 1 || length > 2048 || band < 1 || band > 256) {
        fprintf(stderr, "data/sizes.bin: %d %d %d\n", pairs, length, band);
        return 1;
    }
    float* a = toDevice(readFile<float>("data/a.bin", (size_t)pairs * length));
    float* b = toDevice(readFile<float>("data/b.bin", (size_t)pairs * length));
    float *rows, *cost;
    CHECK(cudaMalloc(&rows, (size_t)pairs * length * sizeof(float)));
    CHECK(cudaMalloc(&cost, pairs * sizeof(float)));
    alignPairs<<<(pairs + 31) / 32, 32>>>(a, b, rows, cost, pairs, length, band);
    CHECK(cudaGetLastError());
    writeFile("data/cost.bin", cost, pairs);
    for (float* pointer : {a, b, rows, cost}) CHECK(cudaFree(pointer));
    return 0;
}
