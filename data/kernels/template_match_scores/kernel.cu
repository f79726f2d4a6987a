#include <cuda_runtime.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSamples = 1 << 20, kMaxTemplates = 64, kMaxLength = 256;
constexpr int kThreads = 128, kGroup = 8;

__global__ void scores(const float* __restrict__ x, const float* __restrict__ shapes, float* __restrict__ score,
                       int n, int templates, int length) {
    extern __shared__ float shared[];
    float* window = shared;                       // kThreads + length - 1
    float* group = shared + kThreads + length - 1;  // kGroup templates
    const int first = blockIdx.x * kThreads, firstTemplate = blockIdx.y * kGroup;
    for (int t = threadIdx.x; t < kThreads + length - 1; t += kThreads) window[t] = x[min(first + t, n - 1)];
    for (int e = threadIdx.x; e < kGroup * length; e += kThreads) {
        group[e] = firstTemplate + e / length < templates ? shapes[firstTemplate * length + e] : 0.0f;
    }
    __syncthreads();

    const int position = first + threadIdx.x, positions = n - length + 1;
    if (position >= positions) return;
    const float* own = window + threadIdx.x;
    float mean = 0.0f, energy = 0.0f, product[kGroup] = {};
    for (int t = 0; t < length; ++t) mean += own[t] - own[0];
    mean = own[0] + mean / length;
    for (int t = 0; t < length; ++t) energy += (own[t] - mean) * (own[t] - mean);
    for (int t = 0; t < length; ++t) {
        const float deviation = own[t] - mean;
#pragma unroll
        for (int g = 0; g < kGroup; ++g) product[g] += deviation * group[g * length + t];
    }
    const float scale = energy > 1e-6f ? rsqrtf(energy) : 0.0f;
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
        if (firstTemplate + g < templates) {
            score[static_cast<size_t>(firstTemplate + g) * positions + position] = product[g] * scale;
        }
    }
}

static void normalise(float* shape, int length) {
    double mean = 0.0, square = 0.0;
    for (int t = 0; t < length; ++t) mean += shape[t];
    mean /= length;
    for (int t = 0; t < length; ++t) square += (shape[t] - mean) * (shape[t] - mean);
    if (square == 0.0) throw std::runtime_error("data/shapes.bin: a template is constant");
    for (int t = 0; t < length; ++t) shape[t] = static_cast<float>((shape[t] - mean) / std::sqrt(square));
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

static void load(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(static_cast<char*>(data), bytes)) throw std::runtime_error(path + ": cannot be read");
}

static void run() {
    int sizes[3];
    load("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], templates = sizes[1], length = sizes[2];
    if (n < 2 || n > kMaxSamples || templates < 1 || templates > kMaxTemplates || length < 2 ||
        length > kMaxLength || length > n) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    std::vector<float> x(n), shapes(templates * length);
    load("data/x.bin", x.data(), x.size() * sizeof(float));
    load("data/shapes.bin", shapes.data(), shapes.size() * sizeof(float));
    for (int k = 0; k < templates; ++k) normalise(&shapes[k * length], length);

    const int positions = n - length + 1;
    std::vector<float> score(static_cast<size_t>(templates) * positions);
    float *dX = nullptr, *dShapes = nullptr, *dScore = nullptr;
    check(cudaMalloc(&dX, x.size() * sizeof(float)), "malloc");
    check(cudaMalloc(&dShapes, shapes.size() * sizeof(float)), "malloc");
    check(cudaMalloc(&dScore, score.size() * sizeof(float)), "malloc");
    check(cudaMemcpy(dX, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice), "upload");
    check(cudaMemcpy(dShapes, shapes.data(), shapes.size() * sizeof(float), cudaMemcpyHostToDevice), "upload");
    const dim3 grid((positions + kThreads - 1) / kThreads, (templates + kGroup - 1) / kGroup);
    const size_t sharedBytes = (kThreads + length - 1 + kGroup * length) * sizeof(float);
    scores<<<grid, kThreads, sharedBytes>>>(dX, dShapes, dScore, n, templates, length);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(score.data(), dScore, score.size() * sizeof(float), cudaMemcpyDeviceToHost), "download");
    check(cudaFree(dX), "free");
    check(cudaFree(dShapes), "free");
    check(cudaFree(dScore), "free");

    std::ofstream out("data/score.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(score.data()), score.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/score.bin: cannot be written");
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
