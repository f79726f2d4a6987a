#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kScanThreads = 1024;

__global__ void countSent(const float* __restrict__ grad, const float* __restrict__ residual, float threshold,
                          int count, int* __restrict__ blockCount) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int sent = __syncthreads_count(i < count && fabsf(residual[i] + grad[i]) >= threshold);
    if (threadIdx.x == 0) blockCount[blockIdx.x] = sent;
}

// Replaces the counts by the sums of the counts before them.
__global__ void scanCounts(int* blockCount, int blocks, int* total) {
    __shared__ int sums[kScanThreads];
    int carry = 0;
    for (int base = 0; base < blocks; base += kScanThreads) {
        const int b = base + threadIdx.x;
        const int own = b < blocks ? blockCount[b] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int step = 1; step < kScanThreads; step *= 2) {
            const int left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += left;
            __syncthreads();
        }
        if (b < blocks) blockCount[b] = carry + sums[threadIdx.x] - own;
        carry += sums[kScanThreads - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0) *total = carry;
}

__global__ void scatterSent(const float* __restrict__ grad, const float* __restrict__ residual, float threshold,
                            int count, const int* __restrict__ blockOffset, float* __restrict__ newResidual,
                            int* __restrict__ sentIndex, float* __restrict__ sentValue) {
    __shared__ int warpCount[kThreads / 32];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float s = i < count ? residual[i] + grad[i] : 0.0f;
    const bool sent = i < count && fabsf(s) >= threshold;
    const unsigned votes = __ballot_sync(0xffffffffu, sent);
    if (lane == 0) warpCount[warp] = __popc(votes);
    __syncthreads();
    if (i >= count) return;
    newResidual[i] = sent ? 0.0f : s;
    if (sent) {
        int rank = blockOffset[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
        for (int w = 0; w < warp; ++w) rank += warpCount[w];
        sentIndex[rank] = i;
        sentValue[rank] = s;
    }
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

template <typename T>
static T* allocate(size_t count, int fill) {
    T* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(T)));
    check(cudaMemset(device, fill, count * sizeof(T)));
    return device;
}

template <typename T>
static void save(const std::string& path, T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const int count = readFile<int32_t>("data/sizes.bin", 1)[0];
        if (count < 1 || count > 4000000) throw std::runtime_error("data/sizes.bin: out of range");
        const auto hostGrad = readFile<float>("data/grad.bin", count);
        const auto hostResidual = readFile<float>("data/residual.bin", count);
        const float threshold = readFile<float>("data/threshold.bin", 1)[0];
        if (!(threshold > 0.0f)) throw std::runtime_error("data/threshold.bin: not positive");

        const int blocks = (count + kThreads - 1) / kThreads;
        float *grad = allocate<float>(count, 0), *residual = allocate<float>(count, 0);
        float *newResidual = allocate<float>(count, 0), *sentValue = allocate<float>(count, 0);
        int *sentIndex = allocate<int>(count, 0xff), *blockCount = allocate<int>(blocks, 0);
        int* total = allocate<int>(1, 0);
        check(cudaMemcpy(grad, hostGrad.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(residual, hostResidual.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        countSent<<<blocks, kThreads>>>(grad, residual, threshold, count, blockCount);
        check(cudaGetLastError());
        scanCounts<<<1, kScanThreads>>>(blockCount, blocks, total);
        check(cudaGetLastError());
        scatterSent<<<blocks, kThreads>>>(grad, residual, threshold, count, blockCount, newResidual, sentIndex,
                                          sentValue);
        check(cudaGetLastError());
        save("data/new_residual.bin", newResidual, count);
        save("data/sent_index.bin", sentIndex, count);
        save("data/sent_value.bin", sentValue, count);
        save("data/sent_count.bin", total, 1);
        check(cudaFree(grad));
        check(cudaFree(residual));
        check(cudaFree(blockCount));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
