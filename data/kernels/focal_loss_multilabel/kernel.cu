#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxClasses = 1024;
constexpr int kThreads = 256;

__constant__ float classAlpha[kMaxClasses];

__global__ void focalLoss(const float* __restrict__ logits, const uint8_t* __restrict__ targets,
                          float* __restrict__ loss, float* __restrict__ grad, int rows, int classes) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (row >= rows) return;
    const size_t start = static_cast<size_t>(row) * classes;

    float sum = 0.0f;
    for (int c = threadIdx.x % 32; c < classes; c += 32) {
        const bool yes = targets[start + c] != 0;
        const float z = yes ? logits[start + c] : -logits[start + c];
        const float a = yes ? classAlpha[c] : 1.0f - classAlpha[c];
        const float t = expf(-fabsf(z));
        const float likely = 1.0f / (1.0f + t), unlikely = t / (1.0f + t);
        const float p = z >= 0.0f ? likely : unlikely;  // of the right decision
        const float q = z >= 0.0f ? unlikely : likely;  // 1 - p
        const float logP = fminf(z, 0.0f) - log1pf(t);
        sum -= a * q * q * logP;
        const float slope = a * q * q * (2.0f * p * logP - q);
        grad[start + c] = yes ? slope : -slope;
    }
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) loss[row] = sum;
}

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

template <typename T>
static std::vector<T> readArray(const char* name, size_t count) {
    std::ifstream file(name, std::ios::binary | std::ios::ate);
    std::vector<T> array(count);
    if (!file || file.tellg() != static_cast<std::streamoff>(count * sizeof(T)) ||
        !file.seekg(0).read(reinterpret_cast<char*>(array.data()), count * sizeof(T))) {
        std::fprintf(stderr, "%s: wrong size\n", name);
        std::exit(1);
    }
    return array;
}

static void writeArray(const char* name, const float* device, size_t count) {
    std::vector<float> array(count);
    check(cudaMemcpy(array.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost), name);
    std::ofstream file(name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(array.data()), count * sizeof(float));
    file.close();
    if (!file) {
        std::fprintf(stderr, "%s: cannot be written\n", name);
        std::exit(1);
    }
}

int main() {
    const auto sizes = readArray<int32_t>("data/sizes.bin", 2);
    const int rows = sizes[0], classes = sizes[1];
    if (rows < 1 || rows > 1000000 || classes < 1 || classes > kMaxClasses) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t cells = static_cast<size_t>(rows) * classes;
    const auto logits = readArray<float>("data/logits.bin", cells);
    const auto targets = readArray<uint8_t>("data/targets.bin", cells);
    const auto alpha = readArray<float>("data/alpha.bin", classes);

    float *dLogits, *dGrad, *dLoss;
    uint8_t* dTargets;
    check(cudaMalloc(&dLogits, cells * sizeof(float)), "logits");
    check(cudaMalloc(&dGrad, cells * sizeof(float)), "grad");
    check(cudaMalloc(&dLoss, rows * sizeof(float)), "loss");
    check(cudaMalloc(&dTargets, cells), "targets");
    check(cudaMemcpy(dLogits, logits.data(), cells * sizeof(float), cudaMemcpyHostToDevice), "logits");
    check(cudaMemcpy(dTargets, targets.data(), cells, cudaMemcpyHostToDevice), "targets");
    check(cudaMemcpyToSymbol(classAlpha, alpha.data(), classes * sizeof(float)), "alpha");

    const int perBlock = kThreads / 32;
    focalLoss<<<(rows + perBlock - 1) / perBlock, kThreads>>>(dLogits, dTargets, dLoss, dGrad, rows, classes);
    check(cudaGetLastError(), "focalLoss");
    writeArray("data/loss.bin", dLoss, rows);
    writeArray("data/grad.bin", dGrad, cells);
    check(cudaFree(dLogits), "cudaFree");
    check(cudaFree(dGrad), "cudaFree");
    check(cudaFree(dLoss), "cudaFree");
    check(cudaFree(dTargets), "cudaFree");
    return 0;
}
