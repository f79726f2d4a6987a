#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxScales = 1024, kMaxLength = 1 << 20, kThreads = 256;
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void markMaxima(const float* __restrict__ w, const float* __restrict__ floors,
                           uint8_t* __restrict__ maximum, int* counts, int n) {
    const int t = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % 32;
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    const float own = t < n ? fabsf(w[row + t]) : -1.0f;
    float before = __shfl_up_sync(kAll, own, 1), after = __shfl_down_sync(kAll, own, 1);
    if (lane == 0) before = t > 0 && t - 1 < n ? fabsf(w[row + t - 1]) : -1.0f;
    if (lane == 31) after = t + 1 < n ? fabsf(w[row + t + 1]) : -1.0f;
    const bool peak = t < n && own > floors[blockIdx.y] && own >= before && own > after;
    if (t < n) maximum[row + t] = peak ? 1 : 0;
    const int marks = __syncthreads_count(peak);
    if (threadIdx.x == 0 && marks > 0) atomicAdd(&counts[blockIdx.y], marks);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> fromFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error(path + ": cannot be opened");
    const bool exact = fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    if (!exact) throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    return values;
}

template <typename T>
static void toFile(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path.c_str(), "wb");
    const bool whole = file && fwrite(values.data(), sizeof(T), count, file) == count;
    if (!file || fclose(file) != 0 || !whole) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = fromFile<int>("data/sizes.bin", 2);
        const int scales = sizes[0], n = sizes[1];
        if (scales < 1 || scales > kMaxScales || n < 1 || n > kMaxLength) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t count = static_cast<size_t>(scales) * n;
        const auto w = fromFile<float>("data/w.bin", count);
        const auto floors = fromFile<float>("data/floor.bin", scales);
        float *dW, *dFloors;
        uint8_t* dMaximum;
        int* dCounts;
        check(cudaMalloc(&dW, count * sizeof(float)));
        check(cudaMalloc(&dFloors, scales * sizeof(float)));
        check(cudaMalloc(&dMaximum, count));
        check(cudaMalloc(&dCounts, scales * sizeof(int)));
        check(cudaMemcpy(dW, w.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dFloors, floors.data(), scales * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemset(dCounts, 0, scales * sizeof(int)));
        markMaxima<<<dim3((n + kThreads - 1) / kThreads, scales), kThreads>>>(dW, dFloors, dMaximum, dCounts, n);
        check(cudaGetLastError());
        toFile("data/maximum.bin", dMaximum, count);
        toFile("data/counts.bin", dCounts, scales);
        check(cudaFree(dW));
        check(cudaFree(dFloors));
        check(cudaFree(dMaximum));
        check(cudaFree(dCounts));
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
