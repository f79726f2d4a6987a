#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

void load_raw(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void save_raw(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define BATCH 32
#define PARAMS 700

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void scales_by_warp(const float* __restrict__ sample_grad, float* __restrict__ scale, int* clip_count) {
    const int lane = threadIdx.x & 31;
    const int b = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (b >= BATCH) return;
    const float* g = sample_grad + (size_t)b * PARAMS;
    float sum = 0.0f;
    for (int k = lane; k < PARAMS; k += 32) sum = fmaf(g[k], g[k], sum);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) {
        const bool clip = sum > 2.25f;
        scale[b] = clip ? 1.5f * rsqrtf(sum) : 1.0f;
        if (clip) atomicAdd(clip_count, 1);
    }
}

// 32 columns a block; 8 groups of threads share the rows and meet in shared memory.
__global__ void weighted_columns(const float* __restrict__ sample_grad, const float* __restrict__ scale,
                                 const float* __restrict__ noise, float* __restrict__ grad) {
    __shared__ float part[8][33];
    const int k = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (k < PARAMS) {
        for (int b = threadIdx.y; b < BATCH; b += 8) sum = fmaf(scale[b], sample_grad[(size_t)b * PARAMS + k], sum);
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && k < PARAMS) {
        for (int r = 1; r < 8; ++r) sum += part[r][threadIdx.x];
        grad[k] = (sum + 0.75f * noise[k]) * (1.0f / BATCH);
    }
}

int main() {
    std::vector<float> h_sample_grad(BATCH * PARAMS);
    std::vector<float> hNoise(PARAMS);
    std::vector<float> hGrad(PARAMS);
    std::vector<int> h_clip_count(1);
    load_raw("data/sample_grad.bin", h_sample_grad.data(), BATCH * PARAMS * sizeof(float));
    load_raw("data/noise.bin", hNoise.data(), PARAMS * sizeof(float));

    float* dev_sample_grad;
    float* dev_noise;
    float* dev_grad;
    int* dev_clip_count;
    float* dev_scale;
    cudaMalloc(&dev_sample_grad, BATCH * PARAMS * sizeof(float));
    cudaMalloc(&dev_noise, PARAMS * sizeof(float));
    cudaMalloc(&dev_grad, PARAMS * sizeof(float));
    cudaMalloc(&dev_clip_count, sizeof(int));
    cudaMalloc(&dev_scale, BATCH * sizeof(float));
    cudaMemcpy(dev_sample_grad, h_sample_grad.data(), BATCH * PARAMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_noise, hNoise.data(), PARAMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(dev_clip_count, 0, sizeof(int));

    scales_by_warp<<<CEIL_DIV(BATCH, 4), 128>>>(dev_sample_grad, dev_scale, dev_clip_count);
    weighted_columns<<<CEIL_DIV(PARAMS, 32), dim3(32, 8)>>>(dev_sample_grad, dev_scale, dev_noise, dev_grad);

    cudaMemcpy(hGrad.data(), dev_grad, PARAMS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clip_count.data(), dev_clip_count, sizeof(int), cudaMemcpyDeviceToHost);
    save_raw("data/grad.bin", hGrad.data(), PARAMS * sizeof(float));
    save_raw("data/clip_count.bin", h_clip_count.data(), sizeof(int));

    cudaFree(dev_sample_grad);
    cudaFree(dev_noise);
    cudaFree(dev_grad);
    cudaFree(dev_clip_count);
    cudaFree(dev_scale);
    return 0;
}
