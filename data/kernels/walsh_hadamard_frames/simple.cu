#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

__global__ void hadamard(const int16_t* x, int* y, int count, int n) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    const int16_t* frame = x + e / n * n;
    int k = e % n, sum = 0;
    for (int t = 0; t < n; ++t) sum += __popc(k & t) % 2 ? -frame[t] : frame[t];
    y[e] = sum;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

void read(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(static_cast<char*>(data), bytes)) {
        throw std::runtime_error(path);
    }
}

int main() {
    try {
        int sizes[3];
        read("data/sizes.bin", sizes, sizeof(sizes));
        int channels = sizes[0], frames = sizes[1], n = sizes[2];
        bool good = channels >= 1 && channels <= 256 && frames >= 1 && frames <= 1024;
        if (!good || n < 2 || n > 4096 || (n & (n - 1)) != 0) throw std::runtime_error("data/sizes.bin: out of range");
        int count = channels * frames * n;
        std::vector<int16_t> x(count);
        std::vector<int> y(count);
        read("data/x.bin", x.data(), x.size() * sizeof(int16_t));
        int16_t* dx;
        int* dy;
        check(cudaMalloc(&dx, x.size() * sizeof(int16_t)));
        check(cudaMalloc(&dy, y.size() * sizeof(int)));
        check(cudaMemcpy(dx, x.data(), x.size() * sizeof(int16_t), cudaMemcpyHostToDevice));
        hadamard<<<(x.size() + 255) / 256, 256>>>(dx, dy, count, n);
        check(cudaGetLastError());
        check(cudaMemcpy(y.data(), dy, y.size() * sizeof(int), cudaMemcpyDeviceToHost));
        check(cudaFree(dx));
        check(cudaFree(dy));
        std::ofstream out("data/y.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(int));
        out.close();
        if (!out) throw std::runtime_error("data/y.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
