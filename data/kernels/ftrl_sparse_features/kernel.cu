#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMax = 4000000;
constexpr float kAlpha = 0.1f, kBeta = 1.0f, kL1 = 0.5f, kL2 = 0.25f;

__device__ float weightOf(float z, float n) {
    if (fabsf(z) <= kL1) return 0.0f;
    return -(z - copysignf(kL1, z)) / ((kBeta + sqrtf(n)) / kAlpha + kL2);
}

__global__ void updateActive(float* z, float* n, const int* __restrict__ index, const float* __restrict__ grad,
                             int active) {
    const int a = blockIdx.x * kThreads + threadIdx.x;
    if (a >= active) return;
    const int f = index[a];
    const float g = grad[a], before = n[f], after = fmaf(g, g, before);
    const float s = g != 0.0f ? g * g / (kAlpha * (sqrtf(after) + sqrtf(before))) : 0.0f;
    z[f] += g - s * weightOf(z[f], before);
    n[f] = after;
}

__global__ void deriveWeights(const float* __restrict__ z, const float* __restrict__ n, float* __restrict__ weights,
                              int features) {
    for (int f = blockIdx.x * kThreads + threadIdx.x; f < features; f += gridDim.x * kThreads) {
        weights[f] = weightOf(z[f], n[f]);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file || file.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static void writeFile(const std::string& path, const std::vector<float>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
}

static void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int features = sizes[0], active = sizes[1];
    if (features < 1 || features > kMax || active < 1 || active > features) throw std::runtime_error("bad sizes");
    auto z = readFile<float>("data/z.bin", features);
    auto n = readFile<float>("data/n.bin", features);
    const auto index = readFile<int32_t>("data/index.bin", active);
    const auto grad = readFile<float>("data/grad.bin", active);
    std::vector<bool> seen(features, false);
    for (int f : index) {
        if (f < 0 || f >= features || seen[f]) throw std::runtime_error("data/index.bin: bad or repeated index");
        seen[f] = true;
    }
    for (float value : n) {
        if (!(value >= 0.0f)) throw std::runtime_error("data/n.bin: negative value");
    }

    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    const size_t all = features * sizeof(float), some = active * sizeof(float);
    float *dz, *dn, *dw, *dg;
    int* di;
    check(cudaMalloc(&dz, all));
    check(cudaMalloc(&dn, all));
    check(cudaMalloc(&dw, all));
    check(cudaMalloc(&dg, some));
    check(cudaMalloc(&di, some));
    check(cudaMemcpyAsync(dz, z.data(), all, cudaMemcpyHostToDevice, stream));
    check(cudaMemcpyAsync(dn, n.data(), all, cudaMemcpyHostToDevice, stream));
    check(cudaMemcpyAsync(di, index.data(), some, cudaMemcpyHostToDevice, stream));
    check(cudaMemcpyAsync(dg, grad.data(), some, cudaMemcpyHostToDevice, stream));
    updateActive<<<(active + kThreads - 1) / kThreads, kThreads, 0, stream>>>(dz, dn, di, dg, active);
    check(cudaGetLastError());
    const int blocks = std::min(1024, (features + kThreads - 1) / kThreads);
    deriveWeights<<<blocks, kThreads, 0, stream>>>(dz, dn, dw, features);
    check(cudaGetLastError());
    std::vector<float> weights(features);
    check(cudaMemcpyAsync(z.data(), dz, all, cudaMemcpyDeviceToHost, stream));
    check(cudaMemcpyAsync(n.data(), dn, all, cudaMemcpyDeviceToHost, stream));
    check(cudaMemcpyAsync(weights.data(), dw, all, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
    for (float* p : {dz, dn, dw, dg}) check(cudaFree(p));
    check(cudaFree(di));

    writeFile("data/new_z.bin", z);
    writeFile("data/new_n.bin", n);
    writeFile("data/weights.bin", weights);
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
