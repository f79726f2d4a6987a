#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxRows = 32, kMaxCols = 128;
constexpr int kIterations = 5;

__global__ void orthogonalize(const float* __restrict__ gradient, float* __restrict__ update, int rows, int cols) {
    __shared__ float buffers[2][kMaxRows][kMaxCols + 1];
    __shared__ float a[kMaxRows][kMaxRows + 1], b[kMaxRows][kMaxRows + 1];
    __shared__ float partial[kThreads / 32];
    const size_t first = static_cast<size_t>(blockIdx.x) * rows * cols;
    float(*x)[kMaxCols + 1] = buffers[0];
    float(*next)[kMaxCols + 1] = buffers[1];

    float sum = 0.0f;
    for (int at = threadIdx.x; at < rows * cols; at += kThreads) {
        const float g = gradient[first + at];
        sum = fmaf(g, g, sum);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < kThreads / 32; ++w) sum += partial[w];
    const float scale = 1.0f / (sqrtf(sum) + 1e-6f);
    for (int at = threadIdx.x; at < rows * cols; at += kThreads) {
        x[at / cols][at % cols] = scale * gradient[first + at];
    }
    __syncthreads();

    for (int iteration = 0; iteration < kIterations; ++iteration) {
        for (int at = threadIdx.x; at < rows * rows; at += kThreads) {
            const int i = at / rows, j = at % rows;
            float dot = 0.0f;
            for (int k = 0; k < cols; ++k) dot = fmaf(x[i][k], x[j][k], dot);
            a[i][j] = dot;
        }
        __syncthreads();
        for (int at = threadIdx.x; at < rows * rows; at += kThreads) {
            const int i = at / rows, j = at % rows;
            float dot = 0.0f;
            for (int k = 0; k < rows; ++k) dot = fmaf(a[i][k], a[k][j], dot);
            b[i][j] = 2.03125f * dot - 4.75f * a[i][j];
        }
        __syncthreads();
        for (int at = threadIdx.x; at < rows * cols; at += kThreads) {
            const int i = at / cols, j = at % cols;
            float value = 3.4375f * x[i][j];
            for (int k = 0; k < rows; ++k) value = fmaf(b[i][k], x[k][j], value);
            next[i][j] = value;
        }
        __syncthreads();
        float(*swap)[kMaxCols + 1] = x;
        x = next;
        next = swap;
    }
    for (int at = threadIdx.x; at < rows * cols; at += kThreads) update[first + at] = x[at / cols][at % cols];
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
        const int matrices = sizes[0], rows = sizes[1], cols = sizes[2];
        if (matrices < 1 || matrices > 65535 || rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto values = readFile<float>("data/gradient.bin", static_cast<size_t>(matrices) * rows * cols);
        const size_t bytes = values.size() * sizeof(float);
        float *gradient = nullptr, *update = nullptr;
        check(cudaMalloc(&gradient, bytes));
        check(cudaMalloc(&update, bytes));
        check(cudaMemcpy(gradient, values.data(), bytes, cudaMemcpyHostToDevice));
        orthogonalize<<<matrices, kThreads>>>(gradient, update, rows, cols);
        check(cudaGetLastError());
        check(cudaMemcpy(values.data(), update, bytes, cudaMemcpyDeviceToHost));
        check(cudaFree(gradient));
        check(cudaFree(update));

        std::ofstream out("data/update.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(values.data()), bytes);
        out.close();
        if (!out) throw std::runtime_error("data/update.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
