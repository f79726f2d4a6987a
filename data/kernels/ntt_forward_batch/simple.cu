#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

constexpr uint32_t kPrime = 998244353;

// A thread per output: Horner's scheme in the point root^k.
__global__ void evaluate(const uint32_t* coefficients, uint32_t* values, int length, uint32_t root) {
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= length) return;
    uint64_t point = 1, square = root;
    for (int bits = k; bits; bits >>= 1) {
        if (bits & 1) point = point * square % kPrime;
        square = square * square % kPrime;
    }
    const uint32_t* x = coefficients + static_cast<size_t>(blockIdx.x) * length;
    uint64_t sum = 0;
    for (int j = length - 1; j >= 0; --j) sum = (sum * point + x[j]) % kPrime;
    values[static_cast<size_t>(blockIdx.x) * length + k] = static_cast<uint32_t>(sum);
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
    const int transforms = sizes[0], logLength = sizes[1];
    if (transforms < 1 || transforms > 65535 || logLength < 1 || logLength > 11) fail("data/sizes.bin: out of range");
    const int length = 1 << logLength;
    const size_t count = static_cast<size_t>(transforms) * length;
    const uint32_t* coefficients = fromFile<uint32_t>("data/coefficients.bin", count);
    for (size_t i = 0; i < count; ++i) {
        if (coefficients[i] >= kPrime) fail("data/coefficients.bin: a coefficient is not below the prime");
    }
    uint64_t root = 3;  // 3^119 has the order 2^23; squaring halves it
    for (int i = 1; i < 119; ++i) root = root * 3 % kPrime;
    for (int order = 23; order > logLength; --order) root = root * root % kPrime;

    uint32_t* values = managed<uint32_t>(count);
    evaluate<<<dim3(transforms, (length + 127) / 128), 128>>>(coefficients, values, length, root);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "evaluate");
    toFile("data/values.bin", values, count);
    return 0;
}
