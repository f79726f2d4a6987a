#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

// One level: `half` pairs a row. Means go to the front of `to`, differences to their band of y.
__global__ void level(const int* from, int* to, int* y, int rows, int n, int half) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= rows * half) return;
    size_t row = (size_t)(e / half) * n;
    int i = e % half;
    int a = from[row + 2 * i], b = from[row + 2 * i + 1];
    to[row + i] = y[row + i] = (a + b) >> 1;
    y[row + half + i] = a - b;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.get() != EOF) throw std::runtime_error(path);
    return values;
}

int main() {
    try {
        auto sizes = load<int>("data/sizes.bin", 3);
        int rows = sizes[0], n = sizes[1], levels = sizes[2];
        if (rows < 1 || rows > 65535 || n < 2 || n > 65536 || levels < 1 || levels > 8 || n % (1 << levels) != 0) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto samples = load<int16_t>("data/x.bin", size_t(rows) * n);
        std::vector<int> values(samples.begin(), samples.end());
        size_t bytes = values.size() * sizeof(int);
        int *from, *to, *y;
        check(cudaMalloc(&from, bytes));
        check(cudaMalloc(&to, bytes));
        check(cudaMalloc(&y, bytes));
        check(cudaMemcpy(from, values.data(), bytes, cudaMemcpyHostToDevice));
        for (int half = n / 2; half >= n >> levels; half /= 2) {
            level<<<(rows * half + 255) / 256, 256>>>(from, to, y, rows, n, half);
            check(cudaGetLastError());
            std::swap(from, to);
        }
        check(cudaMemcpy(values.data(), y, bytes, cudaMemcpyDeviceToHost));
        check(cudaFree(from));
        check(cudaFree(to));
        check(cudaFree(y));
        std::ofstream out("data/y.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(values.data()), bytes);
        out.close();
        if (!out) throw std::runtime_error("data/y.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
