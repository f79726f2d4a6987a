#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kHeight = 60;
constexpr int kWidth = 70;
constexpr int kCells = kHeight * kWidth;
constexpr int kSteps = 10;

struct DeviceBuffer {
    float* ptr = nullptr;
    explicit DeviceBuffer(size_t n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

std::vector<float> loadFile(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float))) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

__global__ void react(const float* x, const float* y, float* x_next, float* y_next) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= kWidth || row >= kHeight) return;
    int i = row * kWidth + col;
    int up = (row + kHeight - 1) % kHeight * kWidth + col;
    int down = (row + 1) % kHeight * kWidth + col;
    int left = row * kWidth + (col + kWidth - 1) % kWidth;
    int right = row * kWidth + (col + 1) % kWidth;
    float lap_x = x[up] + x[down] + x[left] + x[right] - 4.0f * x[i];
    float lap_y = y[up] + y[down] + y[left] + y[right] - 4.0f * y[i];
    float made = x[i] * x[i] * y[i];
    x_next[i] = x[i] + 0.01f * (1.0f - 4.0f * x[i] + made + 2.0f * lap_x);
    y_next[i] = y[i] + 0.01f * (3.0f * x[i] - made + 10.0f * lap_y);
}

int main() {
    std::vector<float> host_x = loadFile("data/x.bin", kCells);
    std::vector<float> host_y = loadFile("data/y.bin", kCells);
    std::vector<float> host_x_after(kCells);
    std::vector<float> host_y_after(kCells);

    DeviceBuffer xDev(kCells);
    DeviceBuffer yDev(kCells);
    DeviceBuffer x_afterDev(kCells);
    DeviceBuffer y_afterDev(kCells);
    DeviceBuffer x_midDev(kCells);
    DeviceBuffer y_midDev(kCells);
    cudaMemcpy(xDev.ptr, host_x.data(), kCells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(yDev.ptr, host_y.data(), kCells * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((kWidth + 15) / 16, (kHeight + 15) / 16);
    react<<<grid, block>>>(xDev.ptr, yDev.ptr, x_midDev.ptr, y_midDev.ptr);
    for (int s = 1; s < kSteps; ++s) {
        if (s % 2) react<<<grid, block>>>(x_midDev.ptr, y_midDev.ptr, x_afterDev.ptr, y_afterDev.ptr);
        else react<<<grid, block>>>(x_afterDev.ptr, y_afterDev.ptr, x_midDev.ptr, y_midDev.ptr);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }
    cudaMemcpy(host_x_after.data(), x_afterDev.ptr, kCells * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_y_after.data(), y_afterDev.ptr, kCells * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/x_after.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_x_after.data()), kCells * sizeof(float));
    std::ofstream("data/y_after.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_y_after.data()), kCells * sizeof(float));
    return 0;
}
