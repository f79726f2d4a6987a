#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ __forceinline__ uint32_t rotate(uint32_t x, int by) { return __funnelshift_l(x, x, by); }

__device__ __forceinline__ uint32_t scramble(uint32_t k) { return rotate(k * 0xCC9E2D51u, 15) * 0x1B873593u; }

__device__ uint32_t murmur(const uint8_t* data, int length, uint32_t h) {
    int at = 0;
    for (; at + 4 <= length; at += 4) {
        const uint32_t word = data[at] | data[at + 1] << 8 | data[at + 2] << 16 |
                              static_cast<uint32_t>(data[at + 3]) << 24;
        h = rotate(h ^ scramble(word), 13) * 5 + 0xE6546B64u;
    }
    uint32_t tail = 0;
    for (int k = 0; at + k < length; ++k) tail |= static_cast<uint32_t>(data[at + k]) << (8 * k);
    h ^= scramble(tail) ^ static_cast<uint32_t>(length);  // without a tail, scramble gives 0
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

__global__ void hashStrings(const int* __restrict__ offsets, const uint8_t* __restrict__ text, uint32_t seed,
                            uint32_t* __restrict__ hashes, int* occupancy, int strings, int buckets) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strings) return;
    const uint32_t h = murmur(text + offsets[i], offsets[i + 1] - offsets[i], seed);
    hashes[i] = h;
    atomicAdd(&occupancy[h % buckets], 1);
}

static void stopIf(bool wrong, const char* what) {
    if (!wrong) return;
    fprintf(stderr, "stopped: %s\n", what);
    exit(1);
}
static void cuda(cudaError_t status) { stopIf(status != cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    stopIf(!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF, path);
    fclose(file);
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device;
    cuda(cudaMalloc(&device, values.size() * sizeof(T)));
    cuda(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    cuda(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    stopIf(!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0, path);
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 3);
    const int strings = sizes[0], bytes = sizes[1], buckets = sizes[2];
    stopIf(strings < 1 || strings > 500000 || bytes < 1 || bytes > 12000000, "data/sizes.bin: out of range");
    stopIf(buckets < 1 || buckets > 65536, "data/sizes.bin: buckets out of range");
    const auto bounds = readFile<int>("data/offsets.bin", strings + 1);
    stopIf(bounds[0] != 0 || bounds[strings] != bytes, "data/offsets.bin does not span the text");
    for (int i = 0; i < strings; ++i) stopIf(bounds[i] > bounds[i + 1], "data/offsets.bin descends");
    const uint32_t seed = readFile<uint32_t>("data/seed.bin", 1)[0];
    int *offsets = upload(bounds), *occupancy = upload(std::vector<int>(buckets, 0));
    uint8_t* text = upload(readFile<uint8_t>("data/text.bin", bytes));
    uint32_t* hashes;
    cuda(cudaMalloc(&hashes, strings * sizeof(uint32_t)));
    hashStrings<<<(strings + 127) / 128, 128>>>(offsets, text, seed, hashes, occupancy, strings, buckets);
    cuda(cudaGetLastError());
    writeFile("data/hashes.bin", hashes, strings);
    writeFile("data/occupancy.bin", occupancy, buckets);
    cuda(cudaFree(offsets));
    cuda(cudaFree(occupancy));
    cuda(cudaFree(text));
    cuda(cudaFree(hashes));
    return 0;
}
