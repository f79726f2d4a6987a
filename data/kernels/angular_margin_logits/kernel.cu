#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

#include <cfloat>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr float kScale = 30.0f, kMargin = 0.5f;
constexpr float kCosMargin = 0.877582562f, kSinMargin = 0.479425539f;

__device__ float withMargin(float c) {
    if (c <= -kCosMargin) return c - kMargin * kSinMargin;
    return c * kCosMargin - sqrtf(fmaxf(0.0f, 1.0f - c * c)) * kSinMargin;
}

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

__global__ void marginLoss(const float* __restrict__ cosine, const int* __restrict__ labels, float* __restrict__ loss,
                           float* __restrict__ confidence, int classes) {
    using Reduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float shared;
    const float* row = cosine + static_cast<size_t>(blockIdx.x) * classes;
    const int label = labels[blockIdx.x];
    const float own = kScale * withMargin(row[label]);

    float largest = -FLT_MAX;
    for (int c = threadIdx.x; c < classes; c += kThreads) {
        largest = fmaxf(largest, c == label ? own : kScale * row[c]);
    }
    largest = Reduce(storage).Reduce(largest, Larger());
    if (threadIdx.x == 0) shared = largest;
    __syncthreads();
    largest = shared;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += kThreads) {
        sum += expf((c == label ? own : kScale * row[c]) - largest);
    }
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(sum) + (largest - own);
        confidence[blockIdx.x] = expf(own - largest) / sum;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong size");
    std::vector<T> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

static void writeFile(const std::string& path, const float* device, int count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int rows = sizes[0], classes = sizes[1];
        if (rows < 1 || rows > 65535 || classes < 2 || classes > 100000) throw std::runtime_error("bad sizes");
        const auto cosine = readFile<float>("data/cosine.bin", static_cast<size_t>(rows) * classes);
        const auto labels = readFile<int32_t>("data/labels.bin", rows);
        for (int label : labels) {
            if (label < 0 || label >= classes) throw std::runtime_error("data/labels.bin: no such class");
        }
        float *dCosine = nullptr, *dLoss = nullptr, *dConfidence = nullptr;
        int* dLabels = nullptr;
        check(cudaMalloc(&dCosine, cosine.size() * sizeof(float)));
        check(cudaMalloc(&dLabels, rows * sizeof(int)));
        check(cudaMalloc(&dLoss, rows * sizeof(float)));
        check(cudaMalloc(&dConfidence, rows * sizeof(float)));
        check(cudaMemcpy(dCosine, cosine.data(), cosine.size() * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dLabels, labels.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
        marginLoss<<<rows, kThreads>>>(dCosine, dLabels, dLoss, dConfidence, classes);
        check(cudaGetLastError());
        writeFile("data/loss.bin", dLoss, rows);
        writeFile("data/confidence.bin", dConfidence, rows);
        for (float* p : {dCosine, dLoss, dConfidence}) check(cudaFree(p));
        check(cudaFree(dLabels));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
