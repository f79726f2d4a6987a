#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 120;
constexpr int kCols = 200;

template <typename T>
struct DevArray {
    T* p = nullptr;
    explicit DevArray(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DevArray() { cudaFree(p); }
    DevArray(const DevArray&) = delete;
    DevArray& operator=(const DevArray&) = delete;
};

__device__ float fetch(const float* p, int r, int c) {
    r = min(max(r, 0), kRows - 1);
    c = min(max(c, 0), kCols - 1);
    return p[r * kCols + c];
}

__global__ void biharmonic(const float* p, float* out) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= kRows || c >= kCols) return;
    float direct = fetch(p, r - 1, c) + fetch(p, r + 1, c) + fetch(p, r, c - 1) + fetch(p, r, c + 1);
    float diagonal = fetch(p, r - 1, c - 1) + fetch(p, r - 1, c + 1) + fetch(p, r + 1, c - 1) + fetch(p, r + 1,
            c + 1);
    float far = fetch(p, r - 2, c) + fetch(p, r + 2, c) + fetch(p, r, c - 2) + fetch(p, r, c + 2);
    out[r * kCols + c] = 20.0f * fetch(p, r, c) - 8.0f * direct + 2.0f * diagonal + far;
}

int main() {
    const size_t count = kRows * kCols;
    std::vector<float> h_plate(count);
    std::vector<float> h_bending(count);
    std::ifstream file("data/plate.bin", std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(h_plate.data()), count * sizeof(float))) {
        throw std::runtime_error("cannot read data/plate.bin");
    }

    DevArray<float> d_plate(count);
    DevArray<float> d_bending(count);
    cudaMemcpy(d_plate.p, h_plate.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((kCols + 15) / 16, (kRows + 15) / 16);
    biharmonic<<<grid, block>>>(d_plate.p, d_bending.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(h_bending.data(), d_bending.p, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream bending_file("data/bending.bin", std::ios::binary);
    bending_file.write(reinterpret_cast<const char*>(h_bending.data()), count * sizeof(float));
    return 0;
}
