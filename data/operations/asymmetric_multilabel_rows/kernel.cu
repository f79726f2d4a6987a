#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

static bool readFile(const char* path, void* ptr, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool writeFile(const char* path, const void* ptr, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(ptr, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

const int kSamples = 128;
const int kLabels = 80;

// The probability is turned into that of the right answer, so both kinds of entries need a single logarithm.
__global__ void asymmetric_loss_warp(const float* __restrict__ logits, const unsigned char* __restrict__ targets,
                                     float* __restrict__ loss) {
    const int lane = threadIdx.x & 31;
    const int sample = blockIdx.x * 8 + (threadIdx.x >> 5);
    if (sample >= kSamples) return;
    const size_t base = (size_t)sample * kLabels;
    float sum = 0.0f;
    for (int k = lane; k < kLabels; k += 32) {
        const float p = 1.0f / (1.0f + expf(-logits[base + k]));
        const bool positive = targets[base + k] != 0;
        const float pm = fmaxf(p - 0.05f, 0.0f);
        const float right = positive ? p : 1.0f - pm;
        const float sq = pm * pm;
        const float weight = positive ? 1.0f - p : sq * sq;
        sum -= weight * logf(fmaxf(right, 1e-8f));
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) loss[sample] = sum;
}

int main() {
    std::vector<float> h_logits(kSamples * kLabels);
    std::vector<unsigned char> h_targets(kSamples * kLabels);
    std::vector<float> h_loss(kSamples);
    if (!readFile("data/logits.bin", h_logits.data(), h_logits.size() * sizeof(float))) {
        fprintf(stderr, "cannot read data/logits.bin\n");
        return 1;
    }
    if (!readFile("data/targets.bin", h_targets.data(), h_targets.size() * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read data/targets.bin\n");
        return 1;
    }

    float* dev_logits;
    unsigned char* dev_targets;
    float* dev_loss;
    checkCuda(cudaMalloc(&dev_logits, kSamples * kLabels * sizeof(float)), "malloc logits");
    checkCuda(cudaMalloc(&dev_targets, kSamples * kLabels * sizeof(unsigned char)), "malloc targets");
    checkCuda(cudaMalloc(&dev_loss, kSamples * sizeof(float)), "malloc loss");
    checkCuda(cudaMemcpy(dev_logits, h_logits.data(), h_logits.size() * sizeof(float), cudaMemcpyHostToDevice),
            "upload logits");
    checkCuda(cudaMemcpy(dev_targets, h_targets.data(), h_targets.size() * sizeof(unsigned char),
            cudaMemcpyHostToDevice), "upload targets");

    asymmetric_loss_warp<<<(kSamples + 7) / 8, 256>>>(dev_logits, dev_targets, dev_loss);
    checkCuda(cudaGetLastError(), "kernel");

    checkCuda(cudaMemcpy(h_loss.data(), dev_loss, h_loss.size() * sizeof(float), cudaMemcpyDeviceToHost),
            "copy loss out");
    if (!writeFile("data/loss.bin", h_loss.data(), h_loss.size() * sizeof(float))) {
        fprintf(stderr, "cannot write data/loss.bin\n");
        return 1;
    }
    cudaFree(dev_logits);
    cudaFree(dev_targets);
    cudaFree(dev_loss);
    return 0;
}
