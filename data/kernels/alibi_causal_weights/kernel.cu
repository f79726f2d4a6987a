#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kMaxHeads = 64, kMaxLength = 4096;
constexpr int kDim = 32, kGroups = kDim / 4;  // float4 groups of a vector
constexpr int kThreads = 128, kWarps = kThreads / 32;

__constant__ float cSlopes[kMaxHeads];

struct Max {
    static constexpr float neutral = -INFINITY;
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    static constexpr float neutral = 0.0f;
    __device__ float operator()(float a, float b) const { return a + b; }
};

// The result is the same in all threads. Starts with a barrier, so that `shared` can be used again at once.
template <typename Op>
__device__ float blockReduce(float value, float* shared, Op op) {
    for (int mask = 16; mask > 0; mask /= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, mask));
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = Op::neutral;
    for (int w = 0; w < kWarps; ++w) value = op(value, shared[w]);
    return value;
}

__global__ void alibiWeights(const float4* __restrict__ q, const float4* __restrict__ k, float* __restrict__ weights,
                             int length) {
    extern __shared__ float scores[];
    __shared__ float partial[kWarps];
    const int i = blockIdx.x, h = blockIdx.y;
    const float slope = cSlopes[h];
    const float scale = rsqrtf(static_cast<float>(kDim));

    float4 query[kGroups];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) query[g] = q[(h * length + i) * kGroups + g];

    float largest = Max::neutral;
    for (int j = threadIdx.x; j <= i; j += kThreads) {
        float dot = 0.0f;
#pragma unroll
        for (int g = 0; g < kGroups; ++g) {
            const float4 key = k[(h * length + j) * kGroups + g];
            dot += query[g].x * key.x + query[g].y * key.y + query[g].z * key.z + query[g].w * key.w;
        }
        scores[j] = dot * scale - slope * (i - j);
        largest = fmaxf(largest, scores[j]);
    }
    largest = blockReduce(largest, partial, Max());

    float sum = 0.0f;
    for (int j = threadIdx.x; j <= i; j += kThreads) {
        scores[j] = expf(scores[j] - largest);
        sum += scores[j];
    }
    const float inverse = 1.0f / blockReduce(sum, partial, Sum());

    float* row = weights + (static_cast<size_t>(h) * length + i) * length;
    for (int j = threadIdx.x; j < length; j += kThreads) row[j] = j <= i ? scores[j] * inverse : 0.0f;
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << std::endl;
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) fail(path + ": missing or of another length");
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) fail(path + ": cannot be read");
    return values;
}

static float4* upload(const std::vector<float>& host) {
    float4* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(float)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int heads = sizes[0], length = sizes[1];
    if (heads < 1 || heads > kMaxHeads || length < 1 || length > kMaxLength) fail("data/sizes.bin: out of range");

    const size_t vectors = static_cast<size_t>(heads) * length;
    float4* q = upload(readFile<float>("data/q.bin", vectors * kDim));
    float4* k = upload(readFile<float>("data/k.bin", vectors * kDim));
    std::vector<float> slopes(heads);
    for (int h = 0; h < heads; ++h) slopes[h] = std::exp2(-8.0f * (h + 1) / heads);
    check(cudaMemcpyToSymbol(cSlopes, slopes.data(), heads * sizeof(float)));

    std::vector<float> result(vectors * length);
    float* weights = nullptr;
    check(cudaMalloc(&weights, result.size() * sizeof(float)));
    alibiWeights<<<dim3(length, heads), kThreads, length * sizeof(float)>>>(q, k, weights, length);
    check(cudaGetLastError());
    check(cudaMemcpy(result.data(), weights, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(q));
    check(cudaFree(k));
    check(cudaFree(weights));

    std::ofstream out("data/weights.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(float));
    out.close();
    if (!out) fail("data/weights.bin: cannot be written");
    return EXIT_SUCCESS;
}
