#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxHistory = 32;

struct Slots {  // dot products; those of the same pair have the same index
    double sy[kMaxHistory], sq[kMaxHistory], yq[kMaxHistory], yy;
};

__global__ void dot(const float* __restrict__ a, const float* __restrict__ b, double* slot, int dims) {
    __shared__ double partial[kThreads / 32];
    double sum = 0.0;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < dims; i += gridDim.x * kThreads) {
        sum += static_cast<double>(a[i]) * b[i];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kThreads / 32; ++w) sum += partial[w];
        atomicAdd(slot, sum);
    }
}

__global__ void removeChange(float* q, const float* __restrict__ y, const Slots* __restrict__ slots, int pair,
                             int dims) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < dims) q[i] -= static_cast<float>(slots->sq[pair] / slots->sy[pair]) * y[i];
}

__global__ void addStep(float* q, const float* __restrict__ s, const Slots* __restrict__ slots, int pair, int dims) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < dims) q[i] += static_cast<float>((slots->sq[pair] - slots->yq[pair]) / slots->sy[pair]) * s[i];
}

__global__ void scaleByNewest(float* q, const Slots* __restrict__ slots, int newest, int dims) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < dims) q[i] *= static_cast<float>(slots->sy[newest] / slots->yy);
}

__global__ void negate(float* q, int dims) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < dims) q[i] = -q[i];
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

static float* load(const std::string& path, size_t count) {
    const auto host = readFile<float>(path, count);
    float* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(float)));
    check(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int dims = sizes[0], history = sizes[1];
        if (dims < 1 || dims > 4000000 || history < 1 || history > kMaxHistory) throw std::runtime_error("bad sizes");
        const size_t n = dims;
        float* q = load("data/gradient.bin", n);
        float* steps = load("data/steps.bin", history * n);
        float* changes = load("data/changes.bin", history * n);
        Slots* slots = nullptr;
        check(cudaMalloc(&slots, sizeof(Slots)));
        check(cudaMemset(slots, 0, sizeof(Slots)));

        const int blocks = (dims + kThreads - 1) / kThreads, few = std::min(blocks, 512), newest = history - 1;
        for (int k = 0; k < history; ++k) dot<<<few, kThreads>>>(steps + k * n, changes + k * n, &slots->sy[k], dims);
        dot<<<few, kThreads>>>(changes + newest * n, changes + newest * n, &slots->yy, dims);
        check(cudaGetLastError());
        for (int k = newest; k >= 0; --k) {
            dot<<<few, kThreads>>>(steps + k * n, q, &slots->sq[k], dims);
            removeChange<<<blocks, kThreads>>>(q, changes + k * n, slots, k, dims);
            check(cudaGetLastError());
        }
        scaleByNewest<<<blocks, kThreads>>>(q, slots, newest, dims);
        for (int k = 0; k < history; ++k) {
            dot<<<few, kThreads>>>(changes + k * n, q, &slots->yq[k], dims);
            addStep<<<blocks, kThreads>>>(q, steps + k * n, slots, k, dims);
            check(cudaGetLastError());
        }
        negate<<<blocks, kThreads>>>(q, dims);
        check(cudaGetLastError());
        std::vector<float> direction(dims);
        check(cudaMemcpy(direction.data(), q, n * sizeof(float), cudaMemcpyDeviceToHost));
        for (float* p : {q, steps, changes}) check(cudaFree(p));
        check(cudaFree(slots));

        std::ofstream out("data/direction.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(direction.data()), n * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("data/direction.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
