#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static bool read_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

const int BATCH = 32;
const int PARAMS = 700;

__global__ void row_scales(const float* sample_grad, float* scale, int* clip_count) {
    __shared__ float part[256];
    const float* g = sample_grad + (size_t)blockIdx.x * PARAMS;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = t; k < PARAMS; k += 256) sum += g[k] * g[k];
    part[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        float norm = sqrtf(part[0]);
        scale[blockIdx.x] = fminf(1.0f, 1.5f / norm);
        if (norm > 1.5f) atomicAdd(clip_count, 1);
    }
}

__global__ void sum_rows(const float* sample_grad, const float* scale, const float* noise, float* grad) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= PARAMS) return;
    float sum = 0.75f * noise[k];
    for (int b = 0; b < BATCH; b++) sum += scale[b] * sample_grad[(size_t)b * PARAMS + k];
    grad[k] = sum / BATCH;
}

int main() {
    float* sample_grad = nullptr;
    float* noise = nullptr;
    float* grad = nullptr;
    int* clip_count = nullptr;
    float* scale = nullptr;
    cudaMallocManaged(&sample_grad, BATCH * PARAMS * sizeof(float));
    cudaMallocManaged(&noise, PARAMS * sizeof(float));
    cudaMallocManaged(&grad, PARAMS * sizeof(float));
    cudaMallocManaged(&clip_count, sizeof(int));
    cudaMallocManaged(&scale, BATCH * sizeof(float));

    if (!read_into("data/sample_grad.bin", sample_grad, BATCH * PARAMS * sizeof(float)) ||
        !read_into("data/noise.bin", noise, PARAMS * sizeof(float))) {
        fprintf(stderr, "bad input files\n");
        return 1;
    }
    cudaMemset(clip_count, 0, sizeof(int));

    row_scales<<<BATCH, 256>>>(sample_grad, scale, clip_count);
    sum_rows<<<(PARAMS + 255) / 256, 256>>>(sample_grad, scale, noise, grad);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    FILE* grad_file = fopen("data/grad.bin", "wb");
    if (!grad_file) return 1;
    fwrite(grad, sizeof(float), PARAMS, grad_file);
    fclose(grad_file);
    FILE* clip_count_file = fopen("data/clip_count.bin", "wb");
    if (!clip_count_file) return 1;
    fwrite(clip_count, sizeof(int), 1, clip_count_file);
    fclose(clip_count_file);

    cudaFree(sample_grad);
    cudaFree(noise);
    cudaFree(grad);
    cudaFree(clip_count);
    cudaFree(scale);
    return 0;
}
