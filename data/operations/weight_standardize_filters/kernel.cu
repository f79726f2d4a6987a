#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const int FILTERS = 48;
static const int FAN_IN = 147;

__device__ float warp_sum(float v) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// One warp per filter, eight filters per block.
__global__ void standardize_warp(const float* __restrict__ weight, const float* __restrict__ gain,
                                 float* __restrict__ out) {
    int f = blockIdx.x * 8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (f >= FILTERS) return;
    const float* w = weight + (size_t)f * FAN_IN;
    float sum = 0.0f;
    for (int i = lane; i < FAN_IN; i += 32) sum += w[i];
    const float mean = warp_sum(sum) / FAN_IN;
    float sq = 0.0f;
    for (int i = lane; i < FAN_IN; i += 32) {
        float d = w[i] - mean;
        sq = fmaf(d, d, sq);
    }
    const float scale = gain[f] * rsqrtf(warp_sum(sq) + 1e-4f);
    float* o = out + (size_t)f * FAN_IN;
    for (int i = lane; i < FAN_IN; i += 32) o[i] = (w[i] - mean) * scale;
}

static inline void check(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

static bool readRaw(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    bool ok = fread(dst, 1, bytes, fp) == bytes;
    fclose(fp);
    return ok;
}

static bool writeRaw(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    bool ok = fwrite(src, 1, bytes, fp) == bytes;
    fclose(fp);
    return ok;
}

int main() {
    const int n_weight = FILTERS * FAN_IN;
    std::vector<float> h_weight(n_weight);
    std::vector<float> h_gain(FILTERS);
    std::vector<float> h_standardized(n_weight);
    if (!readRaw("data/weight.bin", h_weight.data(), n_weight * sizeof(float))) {
        fprintf(stderr, "cannot read weight\n");
        return 1;
    }
    if (!readRaw("data/gain.bin", h_gain.data(), FILTERS * sizeof(float))) {
        fprintf(stderr, "cannot read gain\n");
        return 1;
    }

    float *d_weight = nullptr, *d_gain = nullptr, *d_standardized = nullptr;
    check(cudaMalloc(&d_weight, n_weight * sizeof(float)), "cudaMalloc weight");
    check(cudaMalloc(&d_gain, FILTERS * sizeof(float)), "alloc gain");
    check(cudaMalloc(&d_standardized, n_weight * sizeof(float)), "cudaMalloc standardized");
    check(cudaMemcpy(d_weight, h_weight.data(), n_weight * sizeof(float), cudaMemcpyHostToDevice), "copy weight");
    check(cudaMemcpy(d_gain, h_gain.data(), FILTERS * sizeof(float), cudaMemcpyHostToDevice), "copy gain");

    standardize_warp<<<(FILTERS + 8 - 1) / 8, 256>>>(d_weight, d_gain, d_standardized);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(h_standardized.data(), d_standardized, n_weight * sizeof(float), cudaMemcpyDeviceToHost),
        "copy standardized");

    if (!writeRaw("data/standardized.bin", h_standardized.data(), n_weight * sizeof(float))) {
        fprintf(stderr, "cannot write standardized\n");
        return 1;
    }
    cudaFree(d_weight);
    cudaFree(d_gain);
    cudaFree(d_standardized);
    return 0;
}
