#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// A thread per pair, row by row as on paper.
__global__ void longMultiplication(const uint32_t* a, const uint32_t* b, uint32_t* product, int pairs, int words) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const uint32_t* x = a + (size_t)pair * words;
    const uint32_t* y = b + (size_t)pair * words;
    uint32_t* result = product + (size_t)pair * 2 * words;
    for (int k = 0; k < 2 * words; ++k) result[k] = 0;
    for (int i = 0; i < words; ++i) {
        uint64_t carry = 0;
        for (int j = 0; j < words; ++j) {
            carry += (uint64_t)x[i] * y[j] + result[i + j];  // at most 2^64 - 1
            result[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        result[i + words] = (uint32_t)carry;
    }
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
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int pairs = sizes[0], words = sizes[1];
    if (pairs < 1 || pairs > 1048576 || words < 1 || words > 128) {
        fprintf(stderr, "data/sizes.bin: pairs %d, words %d\n", pairs, words);
        return 1;
    }
    const size_t count = (size_t)pairs * words;
    uint32_t* a = toDevice(readFile<uint32_t>("data/a.bin", count));
    uint32_t* b = toDevice(readFile<uint32_t>("data/b.bin", count));
    uint32_t* product;
    CHECK(cudaMalloc(&product, 2 * count * sizeof(uint32_t)));
    longMultiplication<<<(pairs + 63) / 64, 64>>>(a, b, product, pairs, words);
    CHECK(cudaGetLastError());
    writeFile("data/product.bin", product, 2 * count);
    for (uint32_t* pointer : {a, b, product}) CHECK(cudaFree(pointer));
    return 0;
}
