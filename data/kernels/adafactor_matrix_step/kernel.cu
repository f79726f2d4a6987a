#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr float kDecay = 0.95f, kGain = 0.05f, kTiny = 1e-8f, kRate = 0.01f;

__device__ float blockSum(float value) {  // valid in thread 0
    __shared__ float partial[kThreads / 32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kThreads / 32; ++w) value += partial[w];
    }
    return value;
}

__global__ void rowMoments(const float* __restrict__ grad, float* moment, double* sums, int cols) {
    const float* row = grad + static_cast<size_t>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += kThreads) sum = fmaf(row[j], row[j], sum);
    sum = blockSum(sum);
    if (threadIdx.x == 0) {
        const float fresh = kDecay * moment[blockIdx.x] + kGain * (sum / cols + kTiny);
        moment[blockIdx.x] = fresh;
        atomicAdd(&sums[0], static_cast<double>(fresh));
    }
}

__global__ void colMoments(const float* __restrict__ grad, float* moment, int rows, int cols) {
    __shared__ float partial[8][32];
    const int j = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (j < cols) {
        for (int i = threadIdx.y; i < rows; i += 8) {
            const float g = grad[static_cast<size_t>(i) * cols + j];
            sum = fmaf(g, g, sum);
        }
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && j < cols) {
        for (int y = 1; y < 8; ++y) sum += partial[y][threadIdx.x];
        moment[j] = kDecay * moment[j] + kGain * (sum / rows + kTiny);
    }
}

__device__ float rawUpdate(const float* grad, const float* rowMoment, const float* colMoment, float meanRow, size_t at,
                           int cols) {
    return grad[at] * rsqrtf(rowMoment[at / cols] / meanRow * colMoment[at % cols]);
}

__global__ void sumUpdates(const float* __restrict__ grad, const float* __restrict__ rowMoment,
                           const float* __restrict__ colMoment, double* sums, int rows, int cols) {
    const float meanRow = static_cast<float>(sums[0] / rows);
    const size_t cells = static_cast<size_t>(rows) * cols;
    float sum = 0.0f;
    for (size_t at = blockIdx.x * kThreads + threadIdx.x; at < cells; at += gridDim.x * kThreads) {
        const float u = rawUpdate(grad, rowMoment, colMoment, meanRow, at, cols);
        sum = fmaf(u, u, sum);
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0) atomicAdd(&sums[1], static_cast<double>(sum));
}

__global__ void applyUpdates(float* weights, const float* __restrict__ grad, const float* __restrict__ rowMoment,
                             const float* __restrict__ colMoment, const double* __restrict__ sums, int rows,
                             int cols) {
    const size_t cells = static_cast<size_t>(rows) * cols;
    const size_t at = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (at >= cells) return;
    const float meanRow = static_cast<float>(sums[0] / rows);
    const float rms = static_cast<float>(sqrt(sums[1] / cells));
    weights[at] -= kRate / fmaxf(1.0f, rms) * rawUpdate(grad, rowMoment, colMoment, meanRow, at, cols);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static float* load(const std::string& path, size_t count) {
    std::vector<float> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(host.data()), count * sizeof(float)) || in.peek() != EOF) {
        throw std::runtime_error(path + ": wrong size");
    }
    float* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(float)));
    check(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void save(const std::string& path, float* device, size_t count) {
    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        int32_t sizes[2];
        std::ifstream in("data/sizes.bin", std::ios::binary);
        if (!in.read(reinterpret_cast<char*>(sizes), sizeof sizes) || in.peek() != EOF) {
            throw std::runtime_error("data/sizes.bin: wrong size");
        }
        const int rows = sizes[0], cols = sizes[1];
        if (rows < 1 || rows > 8192 || cols < 1 || cols > 8192) throw std::runtime_error("sizes out of range");
        const size_t cells = static_cast<size_t>(rows) * cols;
        float *weights = load("data/weights.bin", cells), *grad = load("data/grad.bin", cells);
        float *rowMoment = load("data/row_moment.bin", rows), *colMoment = load("data/col_moment.bin", cols);
        double* sums = nullptr;  // of the row moments, of the squared updates
        check(cudaMalloc(&sums, 2 * sizeof(double)));
        check(cudaMemset(sums, 0, 2 * sizeof(double)));

        rowMoments<<<rows, kThreads>>>(grad, rowMoment, sums, cols);
        check(cudaGetLastError());
        colMoments<<<(cols + 31) / 32, dim3(32, 8)>>>(grad, colMoment, rows, cols);
        check(cudaGetLastError());
        const int blocks = static_cast<int>((cells + kThreads - 1) / kThreads);
        sumUpdates<<<std::min(blocks, 1024), kThreads>>>(grad, rowMoment, colMoment, sums, rows, cols);
        check(cudaGetLastError());
        applyUpdates<<<blocks, kThreads>>>(weights, grad, rowMoment, colMoment, sums, rows, cols);
        check(cudaGetLastError());

        save("data/new_weights.bin", weights, cells);
        save("data/new_row_moment.bin", rowMoment, rows);
        save("data/new_col_moment.bin", colMoment, cols);
        check(cudaFree(grad));
        check(cudaFree(sums));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
