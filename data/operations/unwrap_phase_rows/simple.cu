#include <fstream>
#include <stdexcept>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct Buffer {
    T* ptr = nullptr;
    explicit Buffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~Buffer() { cudaFree(ptr); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

static const int ROWS = 50;
static const int COLS = 300;
static const float PI = 3.14159265f;

__global__ void unwrap(const float* phase, float* unwrapped, int* turns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const float* p = phase + (size_t)r * COLS;
    int k = 0;
    for (int c = 0; c < COLS; ++c) {
        if (c > 0) {
            float d = p[c] - p[c - 1];
            if (d > PI) --k;
            else if (d < -PI) ++k;
        }
        unwrapped[(size_t)r * COLS + c] = p[c] + 2.0f * PI * k;
        turns[(size_t)r * COLS + c] = k;
    }
}

int main() {
    const size_t count = (size_t)ROWS * COLS;
    std::vector<float> host_phase(count);
    std::vector<float> host_unwrapped(count);
    std::vector<int> host_turns(count);
    std::ifstream in("data/phase.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(host_phase.data()), count * sizeof(float)))
        throw std::runtime_error("cannot read data/phase.bin");

    Buffer<float> d_phase(count);
    Buffer<float> d_unwrapped(count);
    Buffer<int> d_turns(count);
    cudaMemcpy(d_phase.ptr, host_phase.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    int blockSize = 32;
    unwrap<<<(ROWS - 1) / blockSize + 1, blockSize>>>(d_phase.ptr, d_unwrapped.ptr, d_turns.ptr);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    cudaMemcpy(host_unwrapped.data(), d_unwrapped.ptr, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_turns.data(), d_turns.ptr, count * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/unwrapped.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_unwrapped.data()), count * sizeof(float));
    std::ofstream("data/turns.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_turns.data()), count * sizeof(int));
    return 0;
}
