#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxBursts = 65535, kMaxWords = 16384, kThreads = 128;

__device__ __forceinline__ uint32_t slice(float v) {
    return (static_cast<uint32_t>(v >= 0.0f) << 1) | static_cast<uint32_t>(fabsf(v) < 2.0f);
}

__global__ void demap(const float4* __restrict__ symbols, const float* __restrict__ gain, uint32_t* __restrict__ bits,
                      int words) {
    const int w = blockIdx.x * kThreads + threadIdx.x;
    if (w >= words) return;
    const float g = gain[blockIdx.y];
    const size_t at = static_cast<size_t>(blockIdx.y) * words + w;
    uint32_t word = 0;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float4 s = symbols[4 * at + pair];
        const uint32_t first = slice(g * s.x) << 2 | slice(g * s.y);
        const uint32_t second = slice(g * s.z) << 2 | slice(g * s.w);
        word |= (first | second << 4) << (8 * pair);
    }
    bits[at] = word;
}

template <typename T>
class Device {
public:
    explicit Device(size_t count) : bytes_(count * sizeof(T)) { check(cudaMalloc(&data_, bytes_)); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { cudaFree(data_); }
    T* data() { return data_; }
    void from(const void* host) { check(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice)); }
    void to(void* host) const { check(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost)); }
    static void check(cudaError_t status) {
        if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
    }

private:
    T* data_ = nullptr;
    size_t bytes_;
};

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int bursts = sizes[0], words = sizes[1];
        if (bursts < 1 || bursts > kMaxBursts || words < 1 || words > kMaxWords) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t total = static_cast<size_t>(bursts) * words;
        const auto symbols = readFile<float>("data/symbols.bin", 16 * total);
        const auto gain = readFile<float>("data/gain.bin", bursts);
        std::vector<uint32_t> bits(total);
        Device<float4> dSymbols(4 * total);
        Device<float> dGain(bursts);
        Device<uint32_t> dBits(total);
        dSymbols.from(symbols.data());
        dGain.from(gain.data());
        const dim3 grid((words + kThreads - 1) / kThreads, bursts);
        demap<<<grid, kThreads>>>(dSymbols.data(), dGain.data(), dBits.data(), words);
        Device<uint32_t>::check(cudaGetLastError());
        dBits.to(bits.data());
        std::ofstream out("data/bits.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(bits.data()), total * sizeof(uint32_t));
        out.close();
        if (!out) throw std::runtime_error("data/bits.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
