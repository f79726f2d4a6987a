#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxCount = 1 << 20;
constexpr int kThreads = 128, kWarps = kThreads / 32;
constexpr int kSums = 15;  // 3 of the source, 3 of the target, 9 products
constexpr int kMaxBlocks = 256;

__global__ void partialSums(const float* __restrict__ source, const float* __restrict__ target,
                            const int2* __restrict__ match, int pairs, double* __restrict__ partial) {
    __shared__ double warpSums[kWarps][kSums];
    double sums[kSums] = {};
    for (int k = blockIdx.x * kThreads + threadIdx.x; k < pairs; k += gridDim.x * kThreads) {
        const int2 pair = match[k];
        double p[3], q[3];
        for (int a = 0; a < 3; ++a) {
            p[a] = source[3 * pair.x + a];
            q[a] = target[3 * pair.y + a];
            sums[a] += p[a];
            sums[3 + a] += q[a];
        }
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) sums[6 + 3 * a + b] += p[a] * q[b];
        }
    }
    for (int s = 0; s < kSums; ++s) {
        for (int step = 16; step > 0; step /= 2) sums[s] += __shfl_down_sync(0xFFFFFFFFu, sums[s], step);
        if (threadIdx.x % 32 == 0) warpSums[threadIdx.x / 32][s] = sums[s];
    }
    __syncthreads();
    if (threadIdx.x < kSums) {
        double total = 0.0;
        for (int w = 0; w < kWarps; ++w) total += warpSums[w][threadIdx.x];
        partial[blockIdx.x * kSums + threadIdx.x] = total;
    }
}

__global__ void finish(const double* __restrict__ partial, int rows, int pairs, double* __restrict__ result) {
    __shared__ double mean[kSums];
    const int s = threadIdx.x;
    double total = 0.0;
    for (int r = 0; r < rows; ++r) total += partial[r * kSums + s];
    mean[s] = total / pairs;
    __syncthreads();
    const int product = s - 6;
    result[s] = s < 6 ? mean[s] : mean[s] - mean[product / 3] * mean[3 + product % 3];
}

static void stop(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void cuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) stop(what, cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> slurp(const char* path, size_t count) {
    std::vector<T> values(count + 1);  // one more, to notice a longer file
    FILE* file = fopen(path, "rb");
    if (!file) stop(path, "cannot be opened");
    if (fread(values.data(), 1, (count + 1) * sizeof(T), file) != count * sizeof(T)) stop(path, "wrong length");
    fclose(file);
    values.pop_back();
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& values) {
    T* device = nullptr;
    cuda(cudaMalloc(&device, values.size() * sizeof(T)), "allocate");
    cuda(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
    return device;
}

static void store(const char* path, const double* values, size_t count) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values, sizeof(double), count, file) != count || fclose(file) != 0) stop(path, "not written");
}

int main() {
    const std::vector<int> sizes = slurp<int>("data/sizes.bin", 3);
    for (int size : sizes) {
        if (size < 1 || size > kMaxCount) stop("data/sizes.bin", "out of range");
    }
    const int pairs = sizes[2];
    const auto source = slurp<float>("data/source.bin", 3 * static_cast<size_t>(sizes[0]));
    const auto target = slurp<float>("data/target.bin", 3 * static_cast<size_t>(sizes[1]));
    const auto match = slurp<int2>("data/match.bin", pairs);
    for (const int2& pair : match) {
        if (pair.x < 0 || pair.x >= sizes[0] || pair.y < 0 || pair.y >= sizes[1]) stop("data/match.bin", "bad index");
    }
    float *dSource = toDevice(source), *dTarget = toDevice(target);
    int2* dMatch = toDevice(match);
    double *dPartial, *dResult, result[kSums];
    cuda(cudaMalloc(&dPartial, kMaxBlocks * kSums * sizeof(double)), "allocate");
    cuda(cudaMalloc(&dResult, sizeof result), "allocate");

    const int blocks = std::min((pairs + kThreads - 1) / kThreads, kMaxBlocks);
    partialSums<<<blocks, kThreads>>>(dSource, dTarget, dMatch, pairs, dPartial);
    cuda(cudaGetLastError(), "sums");
    finish<<<1, kSums>>>(dPartial, blocks, pairs, dResult);
    cuda(cudaGetLastError(), "finish");
    cuda(cudaMemcpy(result, dResult, sizeof result, cudaMemcpyDeviceToHost), "download");
    store("data/source_mean.bin", result, 3);
    store("data/target_mean.bin", result + 3, 3);
    store("data/covariance.bin", result + 6, 9);
    void* buffers[] = {dSource, dTarget, dMatch, dPartial, dResult};
    for (void* buffer : buffers) cuda(cudaFree(buffer), "free");
    return 0;
}
