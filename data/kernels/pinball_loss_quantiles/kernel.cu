#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kThreads = 256;

__global__ void pinball(const float* __restrict__ predictions, const float* __restrict__ targets,
                        const float* __restrict__ levels, double* total, float* __restrict__ grad, int samples) {
    __shared__ double partial[kThreads];
    const int quantiles = blockDim.x, k = threadIdx.x;
    const float t = levels[k];
    const float under = -t / samples, over = (1.0f - t) / samples;

    double cost = 0.0;
    for (int i = blockIdx.x * blockDim.y + threadIdx.y; i < samples; i += gridDim.x * blockDim.y) {
        const size_t at = static_cast<size_t>(i) * quantiles + k;
        const float e = targets[i] - predictions[at];
        cost += fmaxf(t * e, (t - 1.0f) * e);
        grad[at] = e > 0.0f ? under : e < 0.0f ? over : 0.0f;
    }
    partial[threadIdx.y * quantiles + k] = cost;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int y = 1; y < blockDim.y; ++y) cost += partial[y * quantiles + k];
        atomicAdd(&total[k], cost);
    }
}

static bool failed = false;

static bool ok(cudaError_t status) {
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        failed = true;
    }
    return !failed;
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T)) || file.peek() != EOF) {
        std::cerr << path << ": expected " << count << " values" << std::endl;
        std::exit(1);
    }
    return values;
}

static bool writeFile(const char* path, const std::vector<float>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    file.close();
    return bool(file);
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int samples = sizes[0], quantiles = sizes[1];
    if (samples < 1 || samples > 4000000 || quantiles < 1 || quantiles > 64) {
        std::cerr << "data/sizes.bin: out of range" << std::endl;
        return 1;
    }
    const size_t cells = static_cast<size_t>(samples) * quantiles;
    std::vector<float> cellsHost = readFile<float>("data/predictions.bin", cells);
    const auto targets = readFile<float>("data/targets.bin", samples);
    const auto levels = readFile<float>("data/levels.bin", quantiles);
    for (float t : levels) {
        if (!(t > 0.0f && t < 1.0f)) {
            std::cerr << "data/levels.bin: a level is not between 0 and 1" << std::endl;
            return 1;
        }
    }

    float *dPredictions = nullptr, *dTargets = nullptr, *dLevels = nullptr, *dGrad = nullptr;
    double* dTotal = nullptr;
    std::vector<double> total(quantiles);
    ok(cudaMalloc(&dPredictions, cells * sizeof(float))) && ok(cudaMalloc(&dGrad, cells * sizeof(float))) &&
        ok(cudaMalloc(&dTargets, samples * sizeof(float))) && ok(cudaMalloc(&dLevels, quantiles * sizeof(float))) &&
        ok(cudaMalloc(&dTotal, quantiles * sizeof(double))) &&
        ok(cudaMemcpy(dPredictions, cellsHost.data(), cells * sizeof(float), cudaMemcpyHostToDevice)) &&
        ok(cudaMemcpy(dTargets, targets.data(), samples * sizeof(float), cudaMemcpyHostToDevice)) &&
        ok(cudaMemcpy(dLevels, levels.data(), quantiles * sizeof(float), cudaMemcpyHostToDevice)) &&
        ok(cudaMemset(dTotal, 0, quantiles * sizeof(double)));
    if (failed) return 1;

    const dim3 block(quantiles, kThreads / quantiles);
    const int blocks = std::min(1024, (samples + int(block.y) - 1) / int(block.y));
    pinball<<<blocks, block>>>(dPredictions, dTargets, dLevels, dTotal, dGrad, samples);
    ok(cudaGetLastError()) &&
        ok(cudaMemcpy(cellsHost.data(), dGrad, cells * sizeof(float), cudaMemcpyDeviceToHost)) &&
        ok(cudaMemcpy(total.data(), dTotal, quantiles * sizeof(double), cudaMemcpyDeviceToHost));
    if (failed) return 1;
    cudaFree(dPredictions);
    cudaFree(dTargets);
    cudaFree(dLevels);
    cudaFree(dGrad);
    cudaFree(dTotal);

    std::vector<float> loss(quantiles);
    for (int k = 0; k < quantiles; ++k) loss[k] = static_cast<float>(total[k] / samples);
    if (!writeFile("data/loss.bin", loss) || !writeFile("data/grad.bin", cellsHost)) {
        std::cerr << "cannot write the results" << std::endl;
        return 1;
    }
    return 0;
}
