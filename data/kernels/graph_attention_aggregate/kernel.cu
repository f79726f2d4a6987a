#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffu;

__device__ float leaky(float x) { return x > 0.0f ? x : 0.2f * x; }

__global__ void attend(const int* __restrict__ rowPtr, const int* __restrict__ sources,
                       const float* __restrict__ sourceScore, const float* __restrict__ targetScore,
                       const float* __restrict__ features, float* __restrict__ output, int vertices, int heads,
                       int width) {
    const long long item = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) / 32;
    if (item >= static_cast<long long>(vertices) * heads) return;
    const int v = static_cast<int>(item / heads), h = static_cast<int>(item % heads), lane = threadIdx.x % 32;
    const int begin = rowPtr[v], end = rowPtr[v + 1];
    const float own = targetScore[item];

    float top = -INFINITY, sum = 0.0f;
    for (int e = begin + lane; e < end; e += 32) {
        const float x = leaky(sourceScore[static_cast<size_t>(sources[e]) * heads + h] + own);
        const float higher = fmaxf(top, x);
        sum = sum * expf(top - higher) + expf(x - higher);
        top = higher;
    }
    float highest = top;
    for (int step = 16; step > 0; step /= 2) highest = fmaxf(highest, __shfl_xor_sync(kAll, highest, step));
    sum = top == -INFINITY ? 0.0f : sum * expf(top - highest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);

    float result[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int base = begin; base < end; base += 32) {
        int u = 0;
        float weight = 0.0f;
        if (base + lane < end) {
            u = sources[base + lane];
            weight = expf(leaky(sourceScore[static_cast<size_t>(u) * heads + h] + own) - highest) / sum;
        }
        const int count = min(32, end - base);
        for (int k = 0; k < count; ++k) {
            const float w = __shfl_sync(kAll, weight, k);
            const int from = __shfl_sync(kAll, u, k);
            const float* row = features + (static_cast<size_t>(from) * heads + h) * width;
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                if (lane + 32 * s < width) result[s] = fmaf(w, row[lane + 32 * s], result[s]);
            }
        }
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        if (lane + 32 * s < width) output[static_cast<size_t>(item) * width + lane + 32 * s] = result[s];
    }
}

static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    require(in && in.peek() == EOF, path + ": wrong size");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 4);
        const int vertices = sizes[0], entries = sizes[1], heads = sizes[2], width = sizes[3];
        require(vertices >= 1 && vertices <= 500000 && entries >= 1 && entries <= 4000000, "sizes: graph");
        require(heads >= 1 && heads <= 16 && width >= 1 && width <= 128, "sizes: heads or width");
        const auto rowPtr = readFile<int32_t>("data/row_ptr.bin", vertices + 1);
        const auto sources = readFile<int32_t>("data/sources.bin", entries);
        require(rowPtr[0] == 0 && rowPtr[vertices] == entries, "row_ptr: wrong ends");
        for (int v = 0; v < vertices; ++v) require(rowPtr[v] <= rowPtr[v + 1], "row_ptr: decreases");
        for (int u : sources) require(u >= 0 && u < vertices, "sources: no such vertex");
        const size_t items = static_cast<size_t>(vertices) * heads;

        int *dRowPtr = upload(rowPtr), *dSources = upload(sources);
        float* sourceScore = upload(readFile<float>("data/source_score.bin", items));
        float* targetScore = upload(readFile<float>("data/target_score.bin", items));
        float* features = upload(readFile<float>("data/features.bin", items * width));
        float* output = nullptr;
        check(cudaMalloc(&output, items * width * sizeof(float)));
        const unsigned blocks = static_cast<unsigned>((items + kThreads / 32 - 1) / (kThreads / 32));
        attend<<<blocks, kThreads>>>(dRowPtr, dSources, sourceScore, targetScore, features, output, vertices, heads,
                                     width);
        check(cudaGetLastError());
        std::vector<float> host(items * width);
        check(cudaMemcpy(host.data(), output, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (int* p : {dRowPtr, dSources}) check(cudaFree(p));
        for (float* p : {sourceScore, targetScore, features, output}) check(cudaFree(p));

        std::ofstream out("data/output.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), host.size() * sizeof(float));
        out.close();
        require(bool(out), "data/output.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
