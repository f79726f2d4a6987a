#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS;

// Exclusive sum over the block's threads; *total gets the sum of all. `scratch` holds THREADS values.
template <typename T>
__device__ T exclusiveSum(T value, T* scratch, T* total) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    T sum = value;
    for (int step = 1; step < THREADS; step *= 2) {
        const T earlier = threadIdx.x >= step ? scratch[threadIdx.x - step] : T(0);
        __syncthreads();
        sum += earlier;
        scratch[threadIdx.x] = sum;
        __syncthreads();
    }
    *total = scratch[THREADS - 1];
    __syncthreads();
    return sum - value;
}

__device__ int bitsOfThread(const uint8_t* text, const uint8_t* lengths, int first, int n) {
    int bits = 0;
    for (int k = 0; k < ITEMS && first + k < n; ++k) bits += lengths[text[first + k]];
    return bits;
}

__global__ void measureTiles(const uint8_t* text, const uint8_t* lengths, long long* tiles, int n) {
    __shared__ int scratch[THREADS];
    int total;
    exclusiveSum(bitsOfThread(text, lengths, blockIdx.x * TILE + threadIdx.x * ITEMS, n), scratch, &total);
    if (threadIdx.x == 0) tiles[blockIdx.x] = total;
}

// One block turns the tiles' lengths into their starts.
__global__ void placeTiles(long long* tiles, long long* bitCount, int count) {
    __shared__ long long scratch[THREADS];
    long long carried = 0, total;
    for (int base = 0; base < count; base += THREADS) {
        const int i = base + threadIdx.x;
        const long long start = exclusiveSum(i < count ? tiles[i] : 0LL, scratch, &total);
        if (i < count) tiles[i] = carried + start;
        carried += total;
    }
    if (threadIdx.x == 0) *bitCount = carried;
}

__global__ void pack(const uint8_t* text, const uint32_t* codes, const uint8_t* lengths, const long long* tiles,
                     uint32_t* packed, long long capacity, int n) {
    __shared__ int scratch[THREADS];
    int total;
    const int first = blockIdx.x * TILE + threadIdx.x * ITEMS;
    long long at = tiles[blockIdx.x] + exclusiveSum(bitsOfThread(text, lengths, first, n), scratch, &total);
    for (int k = 0; k < ITEMS && first + k < n; ++k) {
        const int length = lengths[text[first + k]];
        if (at + length > capacity) return;
        const uint64_t bits = static_cast<uint64_t>(codes[text[first + k]]) << (at & 31);
        atomicOr(&packed[at >> 5], static_cast<uint32_t>(bits));
        if (bits >> 32 != 0) atomicOr(&packed[(at >> 5) + 1], static_cast<uint32_t>(bits >> 32));
        at += length;
    }
}

static void must(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "error: %s\n", what);
        exit(1);
    }
}
static void must(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    must(file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

template <typename T>
static T* device(const std::vector<T>& values) {
    T* pointer;
    must(cudaMalloc(&pointer, values.size() * sizeof(T)));
    must(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

static void writeFile(const char* path, const void* bytes, size_t count) {
    FILE* file = fopen(path, "wb");
    must(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, path);
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int n = sizes[0], words = sizes[1];
    must(n >= 1 && n <= 4000000 && words >= 1 && words <= 4000000, "data/sizes.bin: out of range");
    const auto hostCodes = readFile<uint32_t>("data/codes.bin", 256);
    const auto hostLengths = readFile<uint8_t>("data/lengths.bin", 256);
    for (int s = 0; s < 256; ++s) {
        const int length = hostLengths[s];
        must(length >= 1 && length <= 24 && hostCodes[s] >> length == 0, "a code does not fit its length");
    }
    uint8_t* text = device(readFile<uint8_t>("data/text.bin", n));
    uint32_t* codes = device(hostCodes);
    uint8_t* lengths = device(hostLengths);
    uint32_t* packed = device(std::vector<uint32_t>(words, 0));
    const int count = (n + TILE - 1) / TILE;
    long long *tiles, bitCount;
    must(cudaMalloc(&tiles, (count + 1) * sizeof(long long)));
    measureTiles<<<count, THREADS>>>(text, lengths, tiles, n);
    placeTiles<<<1, THREADS>>>(tiles, tiles + count, count);
    pack<<<count, THREADS>>>(text, codes, lengths, tiles, packed, 32LL * words, n);
    must(cudaGetLastError());
    must(cudaMemcpy(&bitCount, tiles + count, sizeof bitCount, cudaMemcpyDeviceToHost));
    must(bitCount <= 32LL * words, "the codes do not fit the output");
    std::vector<uint32_t> result(words);
    must(cudaMemcpy(result.data(), packed, words * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    writeFile("data/packed.bin", result.data(), words * sizeof(uint32_t));
    writeFile("data/bit_count.bin", &bitCount, sizeof bitCount);
    for (void* pointer : {(void*)text, (void*)codes, (void*)lengths, (void*)packed, (void*)tiles}) {
        must(cudaFree(pointer));
    }
    return 0;
}
