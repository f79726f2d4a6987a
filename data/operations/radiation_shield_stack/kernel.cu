#include <string>
#include <stdexcept>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int STACKS = 40;
constexpr int PLATES = 100;
constexpr int BLOCK = 128;
constexpr int STEPS = 20;

struct DeviceArray {
    float* ptr = nullptr;
    explicit DeviceArray(size_t n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(ptr); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

std::vector<float> read_vector(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()),
            n * sizeof(float))) throw std::runtime_error("cannot read " + path);
    return v;
}

// One block keeps a stack in shared memory for all steps and stores fourth powers for the neighbours.
__global__ void stackInShared(const float* __restrict__ warmth, const float* __restrict__ rate, float* result) {
    __shared__ float u[PLATES];
    __shared__ float power[PLATES];
    const size_t base = (size_t)blockIdx.x * PLATES;
    for (int i = threadIdx.x; i < PLATES; i += BLOCK) u[i] = warmth[base + i];
    for (int s = 0; s < STEPS; ++s) {
        for (int i = threadIdx.x; i < PLATES; i += BLOCK) {
            float square = u[i] * u[i];
            power[i] = square * square;
        }
        __syncthreads();
        for (int i = threadIdx.x + 1; i < PLATES - 1; i += BLOCK) {
            u[i] += rate[i] * (power[i - 1] + power[i + 1] - 2.0f * power[i]);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < PLATES; i += BLOCK) result[base + i] = u[i];
}

int main() {
    std::vector<float> host_warmth = read_vector("data/warmth.bin", STACKS * PLATES);
    std::vector<float> host_rate = read_vector("data/rate.bin", PLATES);
    std::vector<float> host_result(STACKS * PLATES);

    DeviceArray d_warmth(STACKS * PLATES);
    DeviceArray d_rate(PLATES);
    DeviceArray d_result(STACKS * PLATES);
    cudaMemcpy(d_warmth.ptr, host_warmth.data(), STACKS * PLATES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate.ptr, host_rate.data(), PLATES * sizeof(float), cudaMemcpyHostToDevice);

    stackInShared<<<STACKS, BLOCK>>>(d_warmth.ptr, d_rate.ptr, d_result.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
    cudaMemcpy(host_result.data(), d_result.ptr, STACKS * PLATES * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/result.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_result.data()),
                    STACKS * PLATES * sizeof(float));
    return 0;
}
