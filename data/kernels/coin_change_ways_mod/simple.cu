#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

constexpr uint32_t kModulus = 1000000007;

// A thread per remainder modulo the coin's value.
__global__ void addCoin(uint32_t* ways, int amount, int value) {
    const int remainder = blockIdx.x * blockDim.x + threadIdx.x;
    if (remainder >= value) return;
    uint32_t sum = 0;
    for (long long s = remainder; s <= amount; s += value) {
        sum = (sum + ways[s]) % kModulus;
        ways[s] = sum;
    }
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
    const int coins = sizes[0], amount = sizes[1];
    if (coins < 1 || coins > 256 || amount < 1 || amount > 4194304) fail("data/sizes.bin: out of range");
    const int* values = fromFile<int>("data/values.bin", coins);
    for (int k = 0; k < coins; ++k) {
        if (values[k] < 1) fail("data/values.bin: every coin is worth at least 1");
    }
    uint32_t* ways = managed<uint32_t>(amount + 1);
    for (int s = 0; s <= amount; ++s) ways[s] = s == 0;
    for (int k = 0; k < coins; ++k) {
        const int value = values[k];
        if (value <= amount) addCoin<<<(value + 127) / 128, 128>>>(ways, amount, value);
        checked(cudaGetLastError(), "launch");
        checked(cudaDeviceSynchronize(), "addCoin");  // values is read by the host again
    }
    toFile("data/ways.bin", ways, amount + 1);
    return 0;
}
