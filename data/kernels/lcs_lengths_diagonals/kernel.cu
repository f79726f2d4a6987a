#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 128, kLongest = 1024;

__global__ void lcsLengths(const uint8_t* a, const uint8_t* b, int lengthA, int lengthB, int* lcs) {
    __shared__ uint8_t first[kLongest], second[kLongest];
    __shared__ int diagonals[3][kLongest + 1];
    const size_t pair = blockIdx.x;
    for (int i = threadIdx.x; i < lengthA; i += kThreads) first[i] = a[pair * lengthA + i];
    for (int j = threadIdx.x; j < lengthB; j += kThreads) second[j] = b[pair * lengthB + j];
    for (int i = threadIdx.x; i <= lengthA; i += kThreads) diagonals[0][i] = diagonals[1][i] = diagonals[2][i] = 0;
    __syncthreads();

    for (int d = 2; d <= lengthA + lengthB; ++d) {
        int* current = diagonals[d % 3];
        const int *previous = diagonals[(d + 2) % 3], *beforeThat = diagonals[(d + 1) % 3];
        for (int i = max(1, d - lengthB) + threadIdx.x; i <= min(lengthA, d - 1); i += kThreads) {
            const bool same = first[i - 1] == second[d - i - 1];
            current[i] = same ? beforeThat[i - 1] + 1 : max(previous[i - 1], previous[i]);
        }
        if (threadIdx.x == 0 && d <= lengthA) current[d] = 0;  // the cell with j = 0
        __syncthreads();
    }
    if (threadIdx.x == 0) lcs[pair] = diagonals[(lengthA + lengthB) % 3][lengthA];
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
    const int pairs = sizes[0], lengthA = sizes[1], lengthB = sizes[2];
    if (pairs < 1 || pairs > 65535 || lengthA < 1 || lengthA > kLongest || lengthB < 1 || lengthB > kLongest) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    uint8_t* a = toDevice(readFile<uint8_t>("data/a.bin", (size_t)pairs * lengthA));
    uint8_t* b = toDevice(readFile<uint8_t>("data/b.bin", (size_t)pairs * lengthB));
    int* lcs;
    CHECK(cudaMalloc(&lcs, pairs * sizeof(int)));
    lcsLengths<<<pairs, kThreads>>>(a, b, lengthA, lengthB, lcs);
    CHECK(cudaGetLastError());
    writeFile("data/lcs.bin", lcs, pairs);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(lcs));
    return 0;
}
