#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256, kLongest = 200;

// Bit 4 a + b: bases a and b can pair (A-U, C-G, G-U and the other way round).
constexpr unsigned kPairs = 1u << 3 | 1u << 12 | 1u << 6 | 1u << 9 | 1u << 11 | 1u << 14;

__global__ void nussinov(const uint8_t* bases, int length, int* pairs) {
    __shared__ uint8_t best[kLongest + 1][kLongest + 1];  // [i][j + 1]: of bases i..j
    __shared__ uint8_t strand[kLongest];
    for (int i = threadIdx.x; i < (kLongest + 1) * (kLongest + 1); i += kThreads)
        best[i / (kLongest + 1)][i % (kLongest + 1)] = 0;
    for (int i = threadIdx.x; i < length; i += kThreads) strand[i] = bases[(size_t)blockIdx.x * length + i];
    __syncthreads();

    const int lane = threadIdx.x % 32;
    for (int span = 4; span < length; ++span) {
        for (int i = threadIdx.x / 32; i + span < length; i += kThreads / 32) {
            const int j = i + span;
            int most = best[i + 1][j + 1];
            for (int k = i + 4 + lane; k <= j; k += 32) {
                if (kPairs >> (4 * strand[i] + strand[k]) & 1)
                    most = max(most, 1 + best[i + 1][k] + best[k + 1][j + 1]);
            }
            most = __reduce_max_sync(0xffffffffu, most);
            if (lane == 0) best[i][j + 1] = most;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) pairs[blockIdx.x] = best[0][length];
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
    const int sequences = sizes[0], length = sizes[1];
    if (sequences < 1 || sequences > 65535 || length < 1 || length > kLongest) {
        fprintf(stderr, "data/sizes.bin: sequences %d, length %d\n", sequences, length);
        return 1;
    }
    const std::vector<uint8_t> host = readFile<uint8_t>("data/bases.bin", (size_t)sequences * length);
    for (uint8_t base : host) {
        if (base > 3) {
            fprintf(stderr, "data/bases.bin: %d is no base\n", base);
            return 1;
        }
    }
    uint8_t* bases = toDevice(host);
    int* pairs;
    CHECK(cudaMalloc(&pairs, sequences * sizeof(int)));
    nussinov<<<sequences, kThreads>>>(bases, length, pairs);
    CHECK(cudaGetLastError());
    writeFile("data/pairs.bin", pairs, sequences);
    CHECK(cudaFree(bases));
    CHECK(cudaFree(pairs));
    return 0;
}
