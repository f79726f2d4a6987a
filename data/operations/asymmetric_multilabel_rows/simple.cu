#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define SAMPLES 128
#define LABELS 80

#define TRY_CUDA(x) \
    do { \
        cudaError_t e = (x); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(e), __FILE__, __LINE__); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void fetch(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

static void put(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

__device__ float asymmetric_term(float x, unsigned char y) {
    float p = 1.0f / (1.0f + expf(-x));
    if (y) return -(1.0f - p) * logf(fmaxf(p, 1e-8f));
    float pm = fmaxf(p - 0.05f, 0.0f);
    return -pm * pm * pm * pm * logf(fmaxf(1.0f - pm, 1e-8f));
}

__global__ void asymmetric_loss(const float* logits, const unsigned char* targets, float* loss) {
    __shared__ float part[128];
    size_t base = (size_t)blockIdx.x * LABELS;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < LABELS; k += blockDim.x) sum += asymmetric_term(logits[base + k],
            targets[base + k]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) loss[blockIdx.x] = part[0];
}

int main(void) {
    float* host_logits = (float*)malloc(SAMPLES * LABELS * sizeof(float));
    unsigned char* host_targets = (unsigned char*)malloc(SAMPLES * LABELS * sizeof(unsigned char));
    float* host_loss = (float*)malloc(SAMPLES * sizeof(float));
    fetch("data/logits.bin", host_logits, SAMPLES * LABELS * sizeof(float));
    fetch("data/targets.bin", host_targets, SAMPLES * LABELS * sizeof(unsigned char));

    float *dev_logits, *dev_loss;
    unsigned char* dev_targets;
    TRY_CUDA(cudaMalloc(&dev_logits, SAMPLES * LABELS * sizeof(float)));
    TRY_CUDA(cudaMalloc(&dev_targets, SAMPLES * LABELS * sizeof(unsigned char)));
    TRY_CUDA(cudaMalloc(&dev_loss, SAMPLES * sizeof(float)));
    TRY_CUDA(cudaMemcpy(dev_logits, host_logits, SAMPLES * LABELS * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(dev_targets, host_targets, SAMPLES * LABELS * sizeof(unsigned char), cudaMemcpyHostToDevice));

    asymmetric_loss<<<SAMPLES, 128>>>(dev_logits, dev_targets, dev_loss);
    TRY_CUDA(cudaGetLastError());
    TRY_CUDA(cudaDeviceSynchronize());
    TRY_CUDA(cudaMemcpy(host_loss, dev_loss, SAMPLES * sizeof(float), cudaMemcpyDeviceToHost));

    put("data/loss.bin", host_loss, SAMPLES * sizeof(float));
    cudaFree(dev_logits);
    cudaFree(dev_targets);
    cudaFree(dev_loss);
    free(host_logits);
    free(host_targets);
    free(host_loss);
    return 0;
}
