#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

// x^(prime - 2), a thread an entry.
__global__ void invert(const uint32_t* x, uint32_t* inverse, int count, uint32_t prime) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint64_t result = x[i] == 0 ? 0 : 1, base = x[i];
    for (uint32_t exponent = prime - 2; exponent; exponent >>= 1) {
        if (exponent & 1) result = result * base % prime;
        base = base * base % prime;
    }
    inverse[i] = static_cast<uint32_t>(result);
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << '\n';
    std::exit(1);
}

static void checked(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(std::string(step) + ": " + cudaGetErrorString(status));
}

// Memory that host and device see; the process's end frees it.
template <typename T>
static T* managed(size_t count) {
    T* data = nullptr;
    checked(cudaMallocManaged(&data, count * sizeof(T)), "cudaMallocManaged");
    return data;
}

template <typename T>
static T* fromFile(const char* path, size_t count) {
    T* data = managed<T>(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!in || in.get() != EOF) fail(std::string(path) + ": missing, too short or too long");
    return data;
}

template <typename T>
static void toFile(const char* path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
    out.close();
    if (!out) fail(std::string(path) + ": cannot be written");
}

int main() {
    const int* sizes = fromFile<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > 65536 || cols < 1 || cols > 1024) fail("data/sizes.bin: out of range");
    const uint32_t prime = fromFile<uint32_t>("data/prime.bin", 1)[0];
    if (prime < 3 || prime > 2147483647u) fail("data/prime.bin: out of range");
    const int count = rows * cols;
    const uint32_t* x = fromFile<uint32_t>("data/x.bin", count);
    for (int i = 0; i < count; ++i) {
        if (x[i] >= prime) fail("data/x.bin: an entry is not below the prime");
    }
    uint32_t* inverse = managed<uint32_t>(count);
    invert<<<(count + 255) / 256, 256>>>(x, inverse, count, prime);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "invert");
    toFile("data/inverse.bin", inverse, count);
    return 0;
}
