#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void collatz(const uint32_t* starts, int n, int* steps, unsigned long long* peaks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long value = starts[i], peak = value;
    int count = 0;
    while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        if (value > peak) peak = value;
        ++count;
    }
    steps[i] = count;
    peaks[i] = peak;
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
    const std::vector<uint32_t> host = readFile<uint32_t>("data/starts.bin", n);
    for (uint32_t start : host) {
        if (start < 1 || start > 2147483647u) {
            fprintf(stderr, "data/starts.bin: %u is out of range\n", start);
            return 1;
        }
    }
    uint32_t* starts = toDevice(host);
    int* steps;
    unsigned long long* peaks;
    CHECK(cudaMalloc(&steps, n * sizeof(int)));
    CHECK(cudaMalloc(&peaks, n * sizeof(unsigned long long)));
    collatz<<<(n + 127) / 128, 128>>>(starts, n, steps, peaks);
    CHECK(cudaGetLastError());
    writeFile("data/steps.bin", steps, n);
    writeFile("data/peaks.bin", peaks, n);
    return 0;
}
