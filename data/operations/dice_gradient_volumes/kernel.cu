#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define VOLUMES 8
#define VOXELS 1500

#define CHECK(x) \
    do { \
        cudaError_t rc_ = (x); \
        if (rc_ != cudaSuccess) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(rc_)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: write failed\n", path);
        exit(1);
    }
    fclose(f);
}

// First kernel: the two sums of each volume. Second kernel: the gradient, one thread a voxel.
__global__ void dice_sums(const float* __restrict__ prob, const unsigned char* __restrict__ mask, float2* sums) {
    const size_t base = (size_t)blockIdx.y * VOXELS;
    float a = 0.0f, b = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < VOXELS; i += gridDim.x * blockDim.x) {
        const float p = prob[base + i];
        b = fmaf(p, p, b);
        if (mask[base + i]) {
            a += p;
            b += 1.0f;
        }
    }
    for (int d = 16; d > 0; d >>= 1) {
        a += __shfl_down_sync(0xffffffffu, a, d);
        b += __shfl_down_sync(0xffffffffu, b, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[blockIdx.y].x, a);
        atomicAdd(&sums[blockIdx.y].y, b);
    }
}

__global__ void dice_apply(const float* __restrict__ prob, const unsigned char* __restrict__ mask,
                           const float2* __restrict__ sums, float* __restrict__ grad) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= VOXELS) return;
    const size_t at = (size_t)blockIdx.y * VOXELS + i;
    const float2 s = sums[blockIdx.y];
    const float inv = 1.0f / (s.y + 1.0f);
    const float ratio = (2.0f * s.x + 1.0f) * inv;
    grad[at] = 2.0f * inv * (prob[at] * ratio - (mask[at] ? 1.0f : 0.0f));
}

int main(void) {
    float* hProb = (float*)malloc(VOLUMES * VOXELS * sizeof(float));
    unsigned char* hMask = (unsigned char*)malloc(VOLUMES * VOXELS * sizeof(unsigned char));
    float* hGrad = (float*)malloc(VOLUMES * VOXELS * sizeof(float));
    read_file("data/prob.bin", hProb, VOLUMES * VOXELS * sizeof(float));
    read_file("data/mask.bin", hMask, VOLUMES * VOXELS * sizeof(unsigned char));

    float *dev_prob, *dev_grad, *dev_sums;
    unsigned char* dev_mask;
    CHECK(cudaMalloc(&dev_prob, VOLUMES * VOXELS * sizeof(float)));
    CHECK(cudaMalloc(&dev_mask, VOLUMES * VOXELS * sizeof(unsigned char)));
    CHECK(cudaMalloc(&dev_grad, VOLUMES * VOXELS * sizeof(float)));
    CHECK(cudaMalloc(&dev_sums, VOLUMES * 2 * sizeof(float)));
    CHECK(cudaMemcpy(dev_prob, hProb, VOLUMES * VOXELS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_mask, hMask, VOLUMES * VOXELS * sizeof(unsigned char), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dev_sums, 0, VOLUMES * 2 * sizeof(float)));

    dice_sums<<<dim3(16, VOLUMES), 256>>>(dev_prob, dev_mask, (float2*)dev_sums);
    dice_apply<<<dim3((VOXELS + 255) / 256, VOLUMES), 256>>>(dev_prob, dev_mask, (const float2*)dev_sums, dev_grad);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(hGrad, dev_grad, VOLUMES * VOXELS * sizeof(float), cudaMemcpyDeviceToHost));

    write_file("data/grad.bin", hGrad, VOLUMES * VOXELS * sizeof(float));
    cudaFree(dev_prob);
    cudaFree(dev_mask);
    cudaFree(dev_grad);
    cudaFree(dev_sums);
    free(hProb);
    free(hMask);
    free(hGrad);
    return 0;
}
