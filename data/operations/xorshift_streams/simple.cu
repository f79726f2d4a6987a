#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kStreams = 500;
constexpr int kSteps = 40;

__global__ void xorshift(const uint32_t* seeds, const uint32_t* increments, float* uniform, uint32_t* last_state) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= kStreams) return;
    uint32_t state = seeds[j];
    if (state == 0) state = 0x9E3779B9u;
    for (int k = 0; k < kSteps; ++k) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        uniform[(size_t)k * kStreams + j] = ((state + increments[k]) >> 8) * (1.0f / 16777216.0f);
    }
    last_state[j] = state;
}

int main() {
    const size_t n = (size_t)kSteps * kStreams;
    auto seeds = read_vector<uint32_t>("data/seeds.bin", kStreams);
    auto increments = read_vector<uint32_t>("data/increments.bin", kSteps);
    std::vector<float> uniform(n);
    std::vector<uint32_t> last_state(kStreams);

    uint32_t *d_seeds, *d_increments, *d_last_state;
    float *d_uniform;
    cudaMalloc(&d_seeds, seeds.size() * sizeof(uint32_t));
    cudaMalloc(&d_increments, increments.size() * sizeof(uint32_t));
    cudaMalloc(&d_uniform, uniform.size() * sizeof(float));
    cudaMalloc(&d_last_state, last_state.size() * sizeof(uint32_t));
    cudaMemcpy(d_seeds, seeds.data(), seeds.size() * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_increments, increments.data(), increments.size() * sizeof(uint32_t), cudaMemcpyHostToDevice);

    xorshift<<<(kStreams + 256 - 1) / 256, 256>>>(d_seeds, d_increments, d_uniform, d_last_state);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(uniform.data(), d_uniform, uniform.size() * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/uniform.bin", uniform);
    cudaMemcpy(last_state.data(), d_last_state, last_state.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    write_vector("data/last_state.bin", last_state);
    cudaFree(d_seeds);
    cudaFree(d_increments);
    cudaFree(d_uniform);
    cudaFree(d_last_state);
    return 0;
}
