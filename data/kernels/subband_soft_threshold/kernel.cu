#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kLimits[3] = {65535, 1024, 8};
constexpr int kThreads = 256, kMaxLevels = 8;

__global__ void shrink(const float* __restrict__ w, const float* __restrict__ thresholds, float* __restrict__ shrunk,
                       int* __restrict__ kept, int base, int levels) {
    __shared__ float limit[kMaxLevels];
    __shared__ int counts[kMaxLevels];
    if (threadIdx.x < kMaxLevels) {
        limit[threadIdx.x] = thresholds[blockIdx.x * kMaxLevels + threadIdx.x];
        counts[threadIdx.x] = 0;
    }
    __syncthreads();
    const int n = base * 256;
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    for (int c = threadIdx.x; c < n; c += kThreads) {
        const float value = w[row + c];
        const int level = __clz(c / base) - 23;  // 9 for the first `base` columns
        const bool detail = level <= levels;
        float result = value;
        bool survives = false;
        if (detail) {
            const float rest = fabsf(value) - limit[level - 1];
            survives = rest > 0.0f;
            result = survives ? copysignf(rest, value) : 0.0f;
        }
        shrunk[row + c] = result;
        const unsigned group = __match_any_sync(0xFFFFFFFFu, level);
        const unsigned votes = __ballot_sync(0xFFFFFFFFu, survives) & group;
        const bool first = static_cast<int>(threadIdx.x % 32) == __ffs(group) - 1;
        if (first && votes != 0) atomicAdd(&counts[level - 1], __popc(votes));
    }
    __syncthreads();
    if (threadIdx.x < kMaxLevels) kept[blockIdx.x * kMaxLevels + threadIdx.x] = counts[threadIdx.x];
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

template <typename T>
void writeFile(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 3);
        for (int s = 0; s < 3; ++s) {
            if (sizes[s] < 1 || sizes[s] > kLimits[s]) throw std::runtime_error("data/sizes.bin: out of range");
        }
        const int rows = sizes[0], base = sizes[1], levels = sizes[2];
        const size_t count = static_cast<size_t>(rows) * base * 256, entries = static_cast<size_t>(rows) * kMaxLevels;
        const auto w = readFile<float>("data/w.bin", count);
        const auto thresholds = readFile<float>("data/thresholds.bin", entries);
        float *dW, *dThresholds, *dShrunk;
        int* dKept;
        check(cudaMalloc(&dW, count * sizeof(float)));
        check(cudaMalloc(&dShrunk, count * sizeof(float)));
        check(cudaMalloc(&dThresholds, entries * sizeof(float)));
        check(cudaMalloc(&dKept, entries * sizeof(int)));
        check(cudaMemcpy(dW, w.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dThresholds, thresholds.data(), entries * sizeof(float), cudaMemcpyHostToDevice));
        shrink<<<rows, kThreads>>>(dW, dThresholds, dShrunk, dKept, base, levels);
        check(cudaGetLastError());
        writeFile("data/shrunk.bin", dShrunk, count);
        writeFile("data/kept.bin", dKept, entries);
        check(cudaFree(dW));
        check(cudaFree(dShrunk));
        check(cudaFree(dThresholds));
        check(cudaFree(dKept));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
