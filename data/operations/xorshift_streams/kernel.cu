#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kStreams = 500;
constexpr int kSteps = 40;
constexpr int kPairs = (kStreams + 1) / 2;

template <typename T>
struct DeviceArray {
    T* ptr = nullptr;
    explicit DeviceArray(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(ptr); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

__device__ __forceinline__ uint32_t advance(uint32_t s) {
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ (s << 5);
}

// Two neighbouring streams a thread, so that two chains of shifts overlap.
__global__ void xorshift_pairs(const uint32_t* __restrict__ seeds, const uint32_t* __restrict__ add,
                               float* __restrict__ uniform,
                               uint32_t* __restrict__ last) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kPairs) return;
    const int j = 2 * p;
    const bool both = j + 1 < kStreams;
    uint32_t a = seeds[j], b = both ? seeds[j + 1] : 1u;
    a = a ? a : 0x9E3779B9u;
    b = b ? b : 0x9E3779B9u;
    float* out = uniform + j;
    for (int k = 0; k < kSteps; ++k, out += kStreams) {
        const uint32_t inc = add[k];
        a = advance(a);
        b = advance(b);
        out[0] = (float)((a + inc) >> 8) * 0x1p-24f;
        if (both) out[1] = (float)((b + inc) >> 8) * 0x1p-24f;
    }
    last[j] = a;
    if (both) last[j + 1] = b;
}

int main() try {
    const size_t count = (size_t)kSteps * kStreams;
    std::vector<uint32_t> seeds = load<uint32_t>("data/seeds.bin", kStreams);
    std::vector<uint32_t> increments = load<uint32_t>("data/increments.bin", kSteps);
    DeviceArray<uint32_t> d_seeds(kStreams);
    DeviceArray<uint32_t> d_increments(kSteps);
    DeviceArray<float> d_uniform(count);
    DeviceArray<uint32_t> d_last_state(kStreams);
    cudaMemcpy(d_seeds.ptr, seeds.data(), kStreams * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_increments.ptr, increments.data(), kSteps * sizeof(uint32_t), cudaMemcpyHostToDevice);

    int block = 128;
    xorshift_pairs<<<(kPairs + block - 1) / block, block>>>(d_seeds.ptr, d_increments.ptr, d_uniform.ptr,
                                                            d_last_state.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<float> uniform(count);
    cudaMemcpy(uniform.data(), d_uniform.ptr, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/uniform.bin", std::ios::binary)
        .write((const char*)uniform.data(), count * sizeof(float));
    std::vector<uint32_t> last_state(kStreams);
    cudaMemcpy(last_state.data(), d_last_state.ptr, kStreams * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    std::ofstream("data/last_state.bin", std::ios::binary)
        .write((const char*)last_state.data(), kStreams * sizeof(uint32_t));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
