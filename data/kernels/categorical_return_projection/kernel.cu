#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kWarps = 8;
constexpr int kMaxAtoms = 128;
constexpr int kPerLane = kMaxAtoms / 32;
constexpr unsigned kFull = 0xffffffffu;

__device__ float sumOverWarp(float x) {
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(kFull, x, d);
    return x;
}

__global__ void projectedLoss(const float* __restrict__ rewards, const float* __restrict__ discounts,
                              const float* __restrict__ nextProbs, const float* __restrict__ logits, float low,
                              float high, float* __restrict__ loss, float* __restrict__ grad, int samples, int atoms) {
    __shared__ float targets[kWarps][kMaxAtoms];
    const int lane = threadIdx.x, sample = blockIdx.x * kWarps + threadIdx.y;
    if (sample >= samples) return;  // the whole warp
    float* target = targets[threadIdx.y];
    const size_t row = static_cast<size_t>(sample) * atoms;
    const float width = (high - low) / (atoms - 1);

    float value[kPerLane];
    float top = -3.4e38f;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
        const int a = lane + 32 * k;
        value[k] = a < atoms ? logits[row + a] : -3.4e38f;
        top = fmaxf(top, value[k]);
        target[a] = 0.0f;
    }
    for (int d = 16; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(kFull, top, d));
    __syncwarp();

    const float reward = rewards[sample], discount = discounts[sample];
    for (int a = lane; a < atoms; a += 32) {
        const float moved = fminf(fmaxf(reward + discount * (low + a * width), low), high);
        const float place = (moved - low) / width;
        const int left = min(static_cast<int>(place), atoms - 2);
        const float share = place - left, p = nextProbs[row + a];
        atomicAdd(&target[left], p * (1.0f - share));
        atomicAdd(&target[left + 1], p * share);
    }
    __syncwarp();

    float partition = 0.0f, mass = 0.0f, cross = 0.0f;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
        const int a = lane + 32 * k;
        if (a >= atoms) continue;
        value[k] -= top;
        partition += expf(value[k]);
        mass += target[a];
        cross += target[a] * value[k];
    }
    partition = sumOverWarp(partition);
    mass = sumOverWarp(mass);
    cross = sumOverWarp(cross);
    if (lane == 0) loss[sample] = mass * logf(partition) - cross;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
        const int a = lane + 32 * k;
        if (a < atoms) grad[row + a] = mass * expf(value[k]) / partition - target[a];
    }
}

static bool readInto(const char* path, void* values, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    const bool good = file && std::fread(values, 1, bytes, file) == bytes && std::fgetc(file) == EOF;
    if (file) std::fclose(file);
    if (!good) std::fprintf(stderr, "%s: missing or of another size\n", path);
    return good;
}

static bool writeFrom(const char* path, const std::vector<float>& values) {
    std::FILE* file = std::fopen(path, "wb");
    bool good = file && std::fwrite(values.data(), sizeof(float), values.size(), file) == values.size();
    if (file) good = std::fclose(file) == 0 && good;
    if (!good) std::fprintf(stderr, "%s: cannot be written\n", path);
    return good;
}

static bool good(cudaError_t status) {
    if (status != cudaSuccess) std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    return status == cudaSuccess;
}

int main() {
    int32_t sizes[2];
    float support[2];
    if (!readInto("data/sizes.bin", sizes, sizeof sizes)) return 1;
    if (!readInto("data/support.bin", support, sizeof support)) return 1;
    const int samples = sizes[0], atoms = sizes[1];
    if (samples < 1 || samples > 1000000 || atoms < 2 || atoms > kMaxAtoms || !(support[0] < support[1])) {
        std::fprintf(stderr, "a size or the support is out of range\n");
        return 1;
    }
    const size_t cells = static_cast<size_t>(samples) * atoms;
    std::vector<float> rewards(samples), discounts(samples), probs(cells), logits(cells);
    if (!readInto("data/rewards.bin", rewards.data(), samples * sizeof(float))) return 1;
    if (!readInto("data/discounts.bin", discounts.data(), samples * sizeof(float))) return 1;
    if (!readInto("data/next_probs.bin", probs.data(), cells * sizeof(float))) return 1;
    if (!readInto("data/logits.bin", logits.data(), cells * sizeof(float))) return 1;

    // One allocation: rewards, discounts, loss, probabilities, logits, gradient.
    float* memory = nullptr;
    if (!good(cudaMalloc(&memory, (3 * static_cast<size_t>(samples) + 3 * cells) * sizeof(float)))) return 1;
    float *dRewards = memory, *dDiscounts = dRewards + samples, *dLoss = dDiscounts + samples;
    float *dProbs = dLoss + samples, *dLogits = dProbs + cells, *dGrad = dLogits + cells;
    const auto up = [](float* to, const std::vector<float>& from) {
        return good(cudaMemcpy(to, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice));
    };
    if (!up(dRewards, rewards) || !up(dDiscounts, discounts) || !up(dProbs, probs) || !up(dLogits, logits)) return 1;
    projectedLoss<<<(samples + kWarps - 1) / kWarps, dim3(32, kWarps)>>>(
        dRewards, dDiscounts, dProbs, dLogits, support[0], support[1], dLoss, dGrad, samples, atoms);
    if (!good(cudaGetLastError())) return 1;
    if (!good(cudaMemcpy(rewards.data(), dLoss, samples * sizeof(float), cudaMemcpyDeviceToHost))) return 1;
    if (!good(cudaMemcpy(logits.data(), dGrad, cells * sizeof(float), cudaMemcpyDeviceToHost))) return 1;
    if (!good(cudaFree(memory))) return 1;
    return writeFrom("data/loss.bin", rewards) && writeFrom("data/grad.bin", logits) ? 0 : 1;
}
