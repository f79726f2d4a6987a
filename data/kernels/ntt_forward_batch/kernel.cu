#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr uint32_t kPrime = 998244353;
constexpr int kLargest = 11;

__constant__ uint32_t roots[1 << (kLargest - 1)];  // w^0, w^1, ..., w^(N / 2 - 1)

__global__ void transform(const uint32_t* coefficients, uint32_t* values, int logLength) {
    __shared__ uint32_t x[1 << kLargest];
    const int length = 1 << logLength, t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x * length;
    for (int j = t; j < length; j += blockDim.x) x[__brev(j) >> (32 - logLength)] = coefficients[first + j];
    __syncthreads();
    for (int half = 1; half < length; half *= 2) {
        const int k = t % half, i = t / half * 2 * half + k;
        const uint32_t u = x[i];
        const uint32_t v = (uint32_t)((uint64_t)x[i + half] * roots[k * (length / (2 * half))] % kPrime);
        x[i] = u + v >= kPrime ? u + v - kPrime : u + v;
        x[i + half] = u >= v ? u - v : u + kPrime - v;
        __syncthreads();
    }
    for (int j = t; j < length; j += blockDim.x) values[first + j] = x[j];
}

static uint32_t power(uint64_t base, uint32_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base = base * base % kPrime) {
        if (exponent & 1) result = result * base % kPrime;
    }
    return (uint32_t)result;
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
    const int transforms = sizes[0], logLength = sizes[1];
    if (transforms < 1 || transforms > 65535 || logLength < 1 || logLength > kLargest) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const int length = 1 << logLength;
    const size_t count = (size_t)transforms * length;
    const std::vector<uint32_t> host = readFile<uint32_t>("data/coefficients.bin", count);
    for (uint32_t one : host) {
        if (one >= kPrime) {
            fprintf(stderr, "data/coefficients.bin: %u is not below %u\n", one, kPrime);
            return 1;
        }
    }
    std::vector<uint32_t> table(length / 2, 1);
    const uint64_t root = power(3, (kPrime - 1) / length);
    for (int k = 1; k < length / 2; ++k) table[k] = (uint32_t)(table[k - 1] * root % kPrime);
    CHECK(cudaMemcpyToSymbol(roots, table.data(), table.size() * sizeof(uint32_t)));

    uint32_t *coefficients = toDevice(host), *values;
    CHECK(cudaMalloc(&values, count * sizeof(uint32_t)));
    transform<<<transforms, length / 2>>>(coefficients, values, logLength);
    CHECK(cudaGetLastError());
    writeFile("data/values.bin", values, count);
    CHECK(cudaFree(coefficients));
    CHECK(cudaFree(values));
    return 0;
}
