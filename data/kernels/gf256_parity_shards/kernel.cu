#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

constexpr int kShards = 64;

__device__ uint8_t multiply(int a, int b) {
    int product = 0;
    for (; b; b >>= 1) {
        if (b & 1) product ^= a;
        a <<= 1;
        if (a & 0x100) a ^= 0x11D;
    }
    return static_cast<uint8_t>(product);
}

__global__ void encode(const uint8_t* matrix, const uint32_t* shards, uint32_t* parity, int dataShards, int words) {
    __shared__ uint8_t low[kShards][16], high[kShards][16];
    const uint8_t* row = matrix + blockIdx.y * dataShards;
    for (int i = threadIdx.x; i < 16 * dataShards; i += blockDim.x) {
        low[i / 16][i % 16] = multiply(row[i / 16], i % 16);
        high[i / 16][i % 16] = multiply(row[i / 16], i % 16 * 16);
    }
    __syncthreads();
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= words) return;
    uint32_t sum = 0;
    for (int d = 0; d < dataShards; ++d) {
        const uint32_t word = shards[static_cast<size_t>(d) * words + k];
        for (int byte = 0; byte < 4; ++byte) {
            const int value = word >> 8 * byte & 255;
            sum ^= static_cast<uint32_t>(low[d][value & 15] ^ high[d][value >> 4]) << 8 * byte;
        }
    }
    parity[static_cast<size_t>(blockIdx.y) * words + k] = sum;
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
    const int* sizes = fromFile<int>("data/sizes.bin", 3);
    const int dataShards = sizes[0], parityShards = sizes[1], words = sizes[2];
    if (dataShards < 1 || dataShards > kShards || parityShards < 1 || parityShards > 32)
        fail("data/sizes.bin: a number of shards is out of range");
    if (words < 1 || words > 1048576) fail("data/sizes.bin: words is out of range");
    const uint8_t* matrix = fromFile<uint8_t>("data/matrix.bin", parityShards * dataShards);
    const uint32_t* shards = fromFile<uint32_t>("data/shards.bin", static_cast<size_t>(dataShards) * words);
    uint32_t* parity = managed<uint32_t>(static_cast<size_t>(parityShards) * words);
    encode<<<dim3((words + 255) / 256, parityShards), 256>>>(matrix, shards, parity, dataShards, words);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "encode");
    toFile("data/parity.bin", parity, static_cast<size_t>(parityShards) * words);
    return 0;
}
