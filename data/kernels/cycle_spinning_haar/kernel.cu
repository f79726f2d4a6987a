#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxRows = 65535, kMaxLength = 65536, kMaxDepth = 5, kThreads = 128;
constexpr float kRootHalf = 0.70710678118f;

template <int Group>
__global__ void denoiseShift(const float* __restrict__ x, const float* __restrict__ threshold, float* __restrict__ y,
                             int n, int shift) {
    const int first = (blockIdx.x * kThreads + threadIdx.x) * Group;
    if (first >= n) return;
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    const float limit = threshold[blockIdx.y];
    float v[Group];
#pragma unroll
    for (int j = 0; j < Group; ++j) {
        int at = first + shift + j;  // below 2 * n
        if (at >= n) at -= n;
        v[j] = x[row + at];
    }
#pragma unroll
    for (int stride = 1; stride < Group; stride *= 2) {
#pragma unroll
        for (int j = 0; j < Group; j += 2 * stride) {
            const float a = v[j], b = v[j + stride], high = (a - b) * kRootHalf;
            v[j] = (a + b) * kRootHalf;
            v[j + stride] = copysignf(fmaxf(fabsf(high) - limit, 0.0f), high);
        }
    }
#pragma unroll
    for (int stride = Group / 2; stride >= 1; stride /= 2) {
#pragma unroll
        for (int j = 0; j < Group; j += 2 * stride) {
            const float low = v[j], high = v[j + stride];
            v[j] = (low + high) * kRootHalf;
            v[j + stride] = (low - high) * kRootHalf;
        }
    }
#pragma unroll
    for (int j = 0; j < Group; ++j) {
        int at = first + shift + j;
        if (at >= n) at -= n;
        y[row + at] += v[j] / Group;
    }
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <int Group>
void spin(const float* x, const float* threshold, float* y, int rows, int n) {
    const int groups = n / Group;
    const dim3 grid((groups + kThreads - 1) / kThreads, rows);
    for (int shift = 0; shift < Group; ++shift) {
        denoiseShift<Group><<<grid, kThreads>>>(x, threshold, y, n, shift);
        check(cudaGetLastError(), "launch");
    }
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 3);
    const int rows = sizes[0], n = sizes[1], depth = sizes[2];
    if (rows < 1 || rows > kMaxRows || n < 2 || n > kMaxLength || depth < 1 || depth > kMaxDepth ||
        n % (1 << depth) != 0) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    auto signal = readFile<float>("data/x.bin", static_cast<size_t>(rows) * n);
    const auto threshold = readFile<float>("data/threshold.bin", rows);
    const size_t bytes = signal.size() * sizeof(float);
    float *x, *y, *limits;
    check(cudaMalloc(&x, bytes), "allocate x");
    check(cudaMalloc(&y, bytes), "allocate y");
    check(cudaMalloc(&limits, rows * sizeof(float)), "allocate the thresholds");
    check(cudaMemcpy(x, signal.data(), bytes, cudaMemcpyHostToDevice), "upload x");
    check(cudaMemcpy(limits, threshold.data(), rows * sizeof(float), cudaMemcpyHostToDevice), "upload thresholds");
    check(cudaMemset(y, 0, bytes), "clear y");
    switch (depth) {
        case 1: spin<2>(x, limits, y, rows, n); break;
        case 2: spin<4>(x, limits, y, rows, n); break;
        case 3: spin<8>(x, limits, y, rows, n); break;
        case 4: spin<16>(x, limits, y, rows, n); break;
        default: spin<32>(x, limits, y, rows, n); break;
    }
    check(cudaMemcpy(signal.data(), y, bytes, cudaMemcpyDeviceToHost), "download");
    check(cudaFree(x), "free");
    check(cudaFree(y), "free");
    check(cudaFree(limits), "free");
    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(signal.data()), bytes);
    out.close();
    if (!out) throw std::runtime_error("data/y.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
