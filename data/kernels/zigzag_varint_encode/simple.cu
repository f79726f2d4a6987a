#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__host__ __device__ inline uint64_t zigzag(int64_t number) {
    return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}

__device__ __forceinline__ int lengthOf(int64_t number) {
    return (63 - __clzll(static_cast<long long>(zigzag(number) | 1))) / 7 + 1;
}

__global__ void writeBytes(const int64_t* __restrict__ numbers, const int* __restrict__ offsets,
                           uint8_t* __restrict__ encoded, int values, int room) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= values) return;
    uint64_t rest = zigzag(numbers[i]);
    for (int at = offsets[i]; at < offsets[i + 1] && at < room; ++at) {
        encoded[at] = static_cast<uint8_t>((rest & 127) | (at + 1 < offsets[i + 1] ? 128 : 0));
        rest >>= 7;
    }
}

#define CHECK(call)                                                                       \
    do {                                                                                  \
        const cudaError_t result = (call);                                                \
        if (result != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(result));       \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
}

static void writeFile(const char* path, const void* source, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(source, 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

// The offsets one after the other by a single thread; the bytes by one thread a number.
__global__ void addLengths(const int64_t* numbers, int* offsets, int values) {
    int sum = 0;
    for (int i = 0; i < values; ++i) {
        offsets[i] = sum;
        sum += lengthOf(numbers[i]);
    }
    offsets[values] = sum;
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int values = sizes[0], room = sizes[1];
    if (values < 1 || values > 1500000 || room < 1 || room > 16000000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<int64_t> numbers(values);
    readFile("data/numbers.bin", numbers.data(), values * sizeof(int64_t));
    int64_t* dNumbers;
    int* dOffsets;
    uint8_t* dEncoded;
    CHECK(cudaMalloc(&dNumbers, values * sizeof(int64_t)));
    CHECK(cudaMalloc(&dOffsets, (values + 1) * sizeof(int)));
    CHECK(cudaMalloc(&dEncoded, room));
    CHECK(cudaMemcpy(dNumbers, numbers.data(), values * sizeof(int64_t), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dEncoded, 0, room));
    addLengths<<<1, 1>>>(dNumbers, dOffsets, values);
    writeBytes<<<(values + 127) / 128, 128>>>(dNumbers, dOffsets, dEncoded, values, room);
    CHECK(cudaGetLastError());
    std::vector<int> offsets(values + 1);
    std::vector<uint8_t> encoded(room);
    CHECK(cudaMemcpy(offsets.data(), dOffsets, (values + 1) * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(encoded.data(), dEncoded, room, cudaMemcpyDeviceToHost));
    if (offsets[values] > room) {
        fprintf(stderr, "the code takes %d bytes, there is room for %d\n", offsets[values], room);
        return 1;
    }
    writeFile("data/encoded.bin", encoded.data(), room);
    writeFile("data/offsets.bin", offsets.data(), (values + 1) * sizeof(int));
    CHECK(cudaFree(dNumbers));
    CHECK(cudaFree(dOffsets));
    CHECK(cudaFree(dEncoded));
    return 0;
}
