#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(expression)                                                                \
    do {                                                                                   \
        const cudaError_t result_ = (expression);                                          \
        if (result_ != cudaSuccess) {                                                      \
            fprintf(stderr, "%s failed: %s\n", #expression, cudaGetErrorString(result_));  \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

constexpr int kThreads = 256;
constexpr float kLow = 0.8f, kHigh = 1.2f;
enum { kCount, kLoss, kClipped, kKl, kSums };

__global__ void sumStats(const float* __restrict__ logpNew, const float* __restrict__ logpOld,
                         const float* __restrict__ advantage, const uint8_t* __restrict__ mask, double* total,
                         int tokens) {
    using Reduce = cub::BlockReduce<double, kThreads>;
    __shared__ typename Reduce::TempStorage storage;

    double sums[kSums] = {0.0, 0.0, 0.0, 0.0};
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < tokens; i += gridDim.x * kThreads) {
        if (!mask[i]) continue;
        const float log_ratio = logpNew[i] - logpOld[i], a = advantage[i];
        const float r = expf(log_ratio);
        sums[kCount] += 1.0;
        sums[kLoss] -= fminf(r * a, fminf(fmaxf(r, kLow), kHigh) * a);
        sums[kClipped] += r < kLow || r > kHigh;
        sums[kKl] += expm1f(log_ratio) - log_ratio;
    }
    for (int s = 0; s < kSums; ++s) {
        const double sum = Reduce(storage).Sum(sums[s]);
        if (threadIdx.x == 0) atomicAdd(&total[s], sum);
        __syncthreads();  // the storage is used again
    }
}

__global__ void writeGradient(const float* __restrict__ logpNew, const float* __restrict__ logpOld,
                              const float* __restrict__ advantage, const uint8_t* __restrict__ mask,
                              const double* total, float* __restrict__ grad, int tokens) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= tokens) return;
    float g = 0.0f;
    if (mask[i]) {
        const float r = expf(logpNew[i] - logpOld[i]), a = advantage[i];
        const bool flat = (a > 0.0f && r > kHigh) || (a < 0.0f && r < kLow);
        if (!flat) g = -r * a / static_cast<float>(total[kCount]);
    }
    grad[i] = g;
}

template <typename T>
static T* readToDevice(const char* path, int count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != size_t(count) || fgetc(file) != EOF) {
        fprintf(stderr, "%s: missing or not %d values\n", path, count);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    T* device = nullptr;
    CUDA_OK(cudaMalloc(&device, count * sizeof(T)));
    CUDA_OK(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const float* values, size_t count) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values, sizeof(float), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(EXIT_FAILURE);
    }
}

int main() {
    int32_t tokens = 0;
    int32_t* dSizes = readToDevice<int32_t>("data/sizes.bin", 1);
    CUDA_OK(cudaMemcpy(&tokens, dSizes, sizeof(tokens), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(dSizes));
    if (tokens < 1 || tokens > 8000000) {
        fprintf(stderr, "data/sizes.bin: %d tokens\n", tokens);
        return EXIT_FAILURE;
    }
    float* logpNew = readToDevice<float>("data/logp_new.bin", tokens);
    float* logpOld = readToDevice<float>("data/logp_old.bin", tokens);
    float* advantage = readToDevice<float>("data/advantage.bin", tokens);
    uint8_t* mask = readToDevice<uint8_t>("data/mask.bin", tokens);
    float* grad = nullptr;
    double* total = nullptr;
    CUDA_OK(cudaMalloc(&grad, tokens * sizeof(float)));
    CUDA_OK(cudaMalloc(&total, kSums * sizeof(double)));
    CUDA_OK(cudaMemset(total, 0, kSums * sizeof(double)));

    const int blocks = (tokens + kThreads - 1) / kThreads;
    sumStats<<<std::min(blocks, 512), kThreads>>>(logpNew, logpOld, advantage, mask, total, tokens);
    CUDA_OK(cudaGetLastError());
    writeGradient<<<blocks, kThreads>>>(logpNew, logpOld, advantage, mask, total, grad, tokens);
    CUDA_OK(cudaGetLastError());

    double sums[kSums];
    CUDA_OK(cudaMemcpy(sums, total, sizeof sums, cudaMemcpyDeviceToHost));
    const double count = std::max(sums[kCount], 1.0);
    const float stats[3] = {float(sums[kLoss] / count), float(sums[kClipped] / count), float(sums[kKl] / count)};
    std::vector<float> host(tokens);
    CUDA_OK(cudaMemcpy(host.data(), grad, tokens * sizeof(float), cudaMemcpyDeviceToHost));
    for (void* p : {(void*)logpNew, (void*)logpOld, (void*)advantage, (void*)mask, (void*)grad, (void*)total}) {
        CUDA_OK(cudaFree(p));
    }
    writeFile("data/stats.bin", stats, 3);
    writeFile("data/grad.bin", host.data(), host.size());
    return EXIT_SUCCESS;
}
