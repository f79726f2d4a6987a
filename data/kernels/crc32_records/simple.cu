#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr uint32_t POLYNOMIAL = 0xEDB88320u;  // reflected

static void check(cudaError_t status, int line) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "CUDA error before line %d: %s\n", line, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check(call, __LINE__)

static FILE* mustOpen(const char* path, const char* mode) {
    FILE* file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

template <typename T>
static std::vector<T> readVector(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = mustOpen(path, "rb");
    const bool good = fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    if (!good) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    return values;
}

__global__ void checksum(const uint8_t* data, const int* lengths, uint32_t* checksums, int records, int stride) {
    const int record = blockIdx.x * blockDim.x + threadIdx.x;
    if (record >= records) return;
    uint32_t c = 0xFFFFFFFFu;
    for (int i = 0; i < lengths[record]; ++i) {
        c ^= data[static_cast<size_t>(record) * stride + i];
        for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? POLYNOMIAL : 0);
    }
    checksums[record] = ~c;
}

int main() {
    const std::vector<int> sizes = readVector<int>("data/sizes.bin", 2);
    const int records = sizes[0], stride = sizes[1];
    if (records < 1 || records > 300000 || stride < 1 || stride > 4096) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const std::vector<uint8_t> data = readVector<uint8_t>("data/data.bin", static_cast<size_t>(records) * stride);
    const std::vector<int> lengths = readVector<int>("data/lengths.bin", records);
    for (int length : lengths) {
        if (length < 0 || length > stride) {
            fprintf(stderr, "data/lengths.bin: %d\n", length);
            return 1;
        }
    }
    uint8_t* dData;
    int* dLengths;
    uint32_t* dSums;
    CHECK(cudaMalloc(&dData, data.size()));
    CHECK(cudaMalloc(&dLengths, records * sizeof(int)));
    CHECK(cudaMalloc(&dSums, records * sizeof(uint32_t)));
    CHECK(cudaMemcpy(dData, data.data(), data.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dLengths, lengths.data(), records * sizeof(int), cudaMemcpyHostToDevice));
    checksum<<<(records + 127) / 128, 128>>>(dData, dLengths, dSums, records, stride);
    CHECK(cudaGetLastError());
    std::vector<uint32_t> sums(records);
    CHECK(cudaMemcpy(sums.data(), dSums, records * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dData));
    CHECK(cudaFree(dLengths));
    CHECK(cudaFree(dSums));
    FILE* file = mustOpen("data/checksums.bin", "wb");
    const bool good = fwrite(sums.data(), sizeof(uint32_t), sums.size(), file) == sums.size();
    return fclose(file) == 0 && good ? 0 : 1;
}
