#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 128;

__global__ void rankNet(const int* __restrict__ offsets, const float* __restrict__ scores,
                        const int* __restrict__ relevance, float* __restrict__ loss, float* __restrict__ grad) {
    __shared__ float tileScore[kThreads];
    __shared__ int tileRelevance[kThreads];
    __shared__ double tree[kThreads];
    const int begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];

    double total = 0.0;
    for (int base = begin; base < end; base += kThreads) {
        const int i = base + threadIdx.x;
        const bool owner = i < end;
        const float score = owner ? scores[i] : 0.0f;
        const int grade = owner ? relevance[i] : 0;
        float slope = 0.0f;
        for (int other = begin; other < end; other += kThreads) {
            const int j = other + threadIdx.x;
            __syncthreads();
            if (j < end) {
                tileScore[threadIdx.x] = scores[j];
                tileRelevance[threadIdx.x] = relevance[j];
            }
            __syncthreads();
            const int count = owner ? min(kThreads, end - other) : 0;
            for (int k = 0; k < count; ++k) {
                if (tileRelevance[k] == grade) continue;
                const bool better = grade > tileRelevance[k];
                const float x = better ? tileScore[k] - score : score - tileScore[k];
                const float t = expf(-fabsf(x));
                const float w = (x >= 0.0f ? 1.0f : t) / (1.0f + t);
                slope += better ? -w : w;
                if (better) total += fmaxf(x, 0.0f) + log1pf(t);
            }
        }
        if (owner) grad[i] = slope;
    }
    tree[threadIdx.x] = total;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) loss[blockIdx.x] = static_cast<float>(tree[0]);
}

#define REQUIRE(condition, ...)            \
    if (!(condition)) {                    \
        std::fprintf(stderr, __VA_ARGS__); \
        std::fputc('\n', stderr);          \
        std::exit(1);                      \
    }

static void cuda(cudaError_t status) { REQUIRE(status == cudaSuccess, "CUDA: %s", cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::FILE* file = std::fopen(path, "rb");
    REQUIRE(file, "%s: cannot be opened", path);
    std::vector<T> values(count);
    REQUIRE(std::fread(values.data(), sizeof(T), count, file) == count, "%s: too short", path);
    REQUIRE(std::fgetc(file) == EOF, "%s: too long", path);
    std::fclose(file);
    return values;
}

static void writeFile(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    cuda(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    REQUIRE(file && std::fwrite(values.data(), sizeof(float), count, file) == count, "%s: not written", path);
    REQUIRE(std::fclose(file) == 0, "%s: not written", path);
}

template <typename T>
static T* toDevice(const std::vector<T>& host) {
    T* device = nullptr;
    cuda(cudaMalloc(&device, host.size() * sizeof(T)));
    cuda(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int groups = sizes[0], items = sizes[1];
    REQUIRE(groups >= 1 && groups <= 65535 && items >= 1 && items <= 1000000, "data/sizes.bin: out of range");
    const auto offsets = readFile<int32_t>("data/offsets.bin", groups + 1);
    REQUIRE(offsets[0] == 0 && offsets[groups] == items, "data/offsets.bin: wrong first or last value");
    for (int k = 0; k < groups; ++k) REQUIRE(offsets[k] <= offsets[k + 1], "data/offsets.bin: group %d", k);
    int* dOffsets = toDevice(offsets);
    float* dScores = toDevice(readFile<float>("data/scores.bin", items));
    int* dRelevance = toDevice(readFile<int32_t>("data/relevance.bin", items));
    float *dLoss, *dGrad;
    cuda(cudaMalloc(&dLoss, groups * sizeof(float)));
    cuda(cudaMalloc(&dGrad, items * sizeof(float)));

    rankNet<<<groups, kThreads>>>(dOffsets, dScores, dRelevance, dLoss, dGrad);
    cuda(cudaGetLastError());
    writeFile("data/loss.bin", dLoss, groups);
    writeFile("data/grad.bin", dGrad, items);
    cuda(cudaFree(dOffsets));
    cuda(cudaFree(dScores));
    cuda(cudaFree(dRelevance));
    cuda(cudaFree(dLoss));
    cuda(cudaFree(dGrad));
    return 0;
}
