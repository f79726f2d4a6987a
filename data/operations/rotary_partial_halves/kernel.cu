#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TOKENS 100
#define HEADS 8

#define CUDA_CHECK(call) \
    do { \
        cudaError_t rc_ = (call); \
        if (rc_ != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(rc_), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

// One block a token: sixteen sines and cosines serve all heads.
__global__ void rotate_token(const float* __restrict__ q, const int* __restrict__ position,
                             float* __restrict__ rotated) {
    __shared__ float cs[16], sn[16];
    if (threadIdx.x < 16) {
        float freq = exp2f(threadIdx.x * -0.8304820237218407f);
        sincosf(position[blockIdx.x] * freq, &sn[threadIdx.x], &cs[threadIdx.x]);
    }
    __syncthreads();
    const size_t base = (size_t)blockIdx.x * HEADS * 48;
    for (int i = threadIdx.x; i < HEADS * 48; i += blockDim.x) {
        const int d = i % 48, k = d % 16;
        const float v = q[base + i];
        float r = v;
        if (d < 16) r = v * cs[k] - q[base + i + 16] * sn[k];
        else if (d < 32) r = v * cs[k] + q[base + i - 16] * sn[k];
        rotated[base + i] = r;
    }
}

int main() {
    const size_t n_q = TOKENS * HEADS * 48;
    float* host_q = (float*)malloc(n_q * sizeof(float));
    int* host_position = (int*)malloc(TOKENS * sizeof(int));
    float* host_rotated = (float*)malloc(n_q * sizeof(float));

    FILE* file;
    file = fopen("data/q.bin", "rb");
    if (!file || fread(host_q, sizeof(float), n_q, file) != n_q) {
        fprintf(stderr, "cannot read data/q.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/position.bin", "rb");
    if (!file || fread(host_position, sizeof(int), TOKENS, file) != TOKENS) {
        fprintf(stderr, "cannot read data/position.bin\n");
        return 1;
    }
    fclose(file);

    float *dev_q, *dev_rotated;
    int *dev_position;
    CUDA_CHECK(cudaMalloc(&dev_q, n_q * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dev_position, TOKENS * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&dev_rotated, n_q * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dev_q, host_q, n_q * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dev_position, host_position, TOKENS * sizeof(int), cudaMemcpyHostToDevice));

    rotate_token<<<TOKENS, 192>>>(dev_q, dev_position, dev_rotated);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(host_rotated, dev_rotated, n_q * sizeof(float), cudaMemcpyDeviceToHost));
    file = fopen("data/rotated.bin", "wb");
    if (!file || fwrite(host_rotated, sizeof(float), n_q, file) != n_q) {
        fprintf(stderr, "cannot write data/rotated.bin\n");
        return 1;
    }
    fclose(file);

    cudaFree(dev_q);
    cudaFree(dev_position);
    cudaFree(dev_rotated);
    free(host_q);
    free(host_position);
    free(host_rotated);
    return 0;
}
