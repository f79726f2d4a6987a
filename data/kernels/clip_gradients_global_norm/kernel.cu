#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kChunk = 8192;

// Every thread of the block gets the sum.
__device__ double blockSum(double value) {
    __shared__ double tree[kThreads];
    tree[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    return tree[0];
}

__global__ void sumSquares(const int3* __restrict__ chunks, const float* __restrict__ grad, double* squares) {
    const int3 chunk = chunks[blockIdx.x];
    double sum = 0.0;
    for (int i = chunk.y + threadIdx.x; i < chunk.z; i += kThreads) {
        const double g = grad[i];
        sum += g * g;
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0) atomicAdd(&squares[chunk.x], sum);
}

__global__ void findFactor(const double* __restrict__ squares, float* __restrict__ norms, int tensors,
                           const float* __restrict__ maxNorm, float* factor) {
    double sum = 0.0;
    for (int k = threadIdx.x; k < tensors; k += kThreads) {
        sum += squares[k];
        norms[k] = static_cast<float>(sqrt(squares[k]));
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0) *factor = static_cast<float>(fmin(1.0, *maxNorm / sqrt(sum)));
}

__global__ void scale(float* grad, const float* __restrict__ factor, int count) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < count) grad[i] *= *factor;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || static_cast<size_t>(file.tellg()) != count * sizeof(T)) throw std::runtime_error(path);
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& values) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, values.size() * sizeof(T)));
    check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

static void save(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream file(path, std::ios::binary);
    if (!file.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float)).flush()) {
        throw std::runtime_error(path);
    }
}

static void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int tensors = sizes[0], count = sizes[1];
    if (tensors < 1 || tensors > 10000 || count < 1 || count > 16000000) throw std::runtime_error("sizes");
    const auto offsets = readFile<int32_t>("data/offsets.bin", tensors + 1);
    const auto maxNorm = readFile<float>("data/max_norm.bin", 1);
    if (offsets[0] != 0 || offsets[tensors] != count || !(maxNorm[0] > 0.0f)) throw std::runtime_error("bad input");
    std::vector<int3> chunks;
    for (int k = 0; k < tensors; ++k) {
        if (offsets[k] > offsets[k + 1]) throw std::runtime_error("data/offsets.bin: decreases");
        for (int begin = offsets[k]; begin < offsets[k + 1]; begin += kChunk) {
            chunks.push_back(make_int3(k, begin, std::min(begin + kChunk, offsets[k + 1])));
        }
    }
    float* grad = toDevice(readFile<float>("data/grad.bin", count));
    float *dMaxNorm = toDevice(maxNorm), *norms = nullptr, *factor = nullptr;
    int3* dChunks = toDevice(chunks);
    double* squares = toDevice(std::vector<double>(tensors, 0.0));
    check(cudaMalloc(&norms, tensors * sizeof(float)));
    check(cudaMalloc(&factor, sizeof(float)));

    sumSquares<<<chunks.size(), kThreads>>>(dChunks, grad, squares);
    check(cudaGetLastError());
    findFactor<<<1, kThreads>>>(squares, norms, tensors, dMaxNorm, factor);
    check(cudaGetLastError());
    scale<<<(count + kThreads - 1) / kThreads, kThreads>>>(grad, factor, count);
    check(cudaGetLastError());
    save("data/tensor_norms.bin", norms, tensors);
    save("data/clipped.bin", grad, count);
    for (void* p : {(void*)grad, (void*)dMaxNorm, (void*)norms, (void*)factor, (void*)dChunks, (void*)squares}) {
        check(cudaFree(p));
    }
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << std::endl;
        return 1;
    }
}
