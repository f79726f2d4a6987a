#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void euclid(const uint32_t* pairs, uint32_t* gcd, unsigned long long* lcm, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t a = pairs[2 * i], b = pairs[2 * i + 1];
    const unsigned long long product = (unsigned long long)a * b;
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    gcd[i] = a;
    lcm[i] = a > 0 ? product / a : 0;
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
    const int n = readFile<int>("data/sizes.bin", 1)[0];
    if (n < 1 || n > 16777216) {
        fprintf(stderr, "data/sizes.bin: n is %d\n", n);
        return 1;
    }
    uint32_t *pairs = toDevice(readFile<uint32_t>("data/pairs.bin", 2 * (size_t)n)), *gcd;
    unsigned long long* lcm;
    CHECK(cudaMalloc(&gcd, n * sizeof(uint32_t)));
    CHECK(cudaMalloc(&lcm, n * sizeof(unsigned long long)));
    euclid<<<(n + 255) / 256, 256>>>(pairs, gcd, lcm, n);
    CHECK(cudaGetLastError());
    writeFile("data/gcd.bin", gcd, n);
    writeFile("data/lcm.bin", lcm, n);
    return 0;
}
