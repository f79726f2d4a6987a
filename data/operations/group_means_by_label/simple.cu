#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define checkCudaErrors(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(1); \
        } \
    } while (0)

static void read_input(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_output(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define N 2500
#define DIMS 8
#define GROUPS 20

__global__ void accumulate(const float* x, const int* label, float* sums, int* counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int g = label[i];
    if (g < 0) return;
    atomicAdd(&counts[g], 1);
    for (int d = 0; d < DIMS; ++d) {
        atomicAdd(&sums[g * DIMS + d], x[(size_t)i * DIMS + d]);
    }
}

__global__ void divide(const float* sums, const int* counts, const float* old, float* means) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= GROUPS * DIMS) return;
    int n = counts[k / DIMS];
    means[k] = n > 0 ? sums[k] / n : old[k];
}

int main() {
    const int x_count = N * DIMS;
    const int old_count = GROUPS * DIMS;
    float* host_x = (float*)malloc(x_count * sizeof(float));
    int* host_label = (int*)malloc(N * sizeof(int));
    float* host_old = (float*)malloc(old_count * sizeof(float));
    float* host_means = (float*)malloc(old_count * sizeof(float));
    int* host_counts = (int*)malloc(GROUPS * sizeof(int));
    read_input("data/x.bin", host_x, x_count * sizeof(float));
    read_input("data/label.bin", host_label, N * sizeof(int));
    read_input("data/old.bin", host_old, old_count * sizeof(float));

    float *dev_x, *dev_old, *dev_means;
    int *dev_label, *dev_counts;
    float* dev_sums;
    checkCudaErrors(cudaMalloc(&dev_x, x_count * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dev_label, N * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dev_old, old_count * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dev_means, old_count * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dev_counts, GROUPS * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dev_sums, GROUPS * DIMS * sizeof(float)));
    checkCudaErrors(cudaMemcpy(dev_x, host_x, x_count * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(dev_label, host_label, N * sizeof(int), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(dev_old, host_old, old_count * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemset(dev_counts, 0, GROUPS * sizeof(int)));
    checkCudaErrors(cudaMemset(dev_sums, 0, GROUPS * DIMS * sizeof(float)));

    accumulate<<<(N + 256 - 1) / 256, 256>>>(dev_x, dev_label, dev_sums, dev_counts);
    divide<<<(GROUPS * DIMS + 256 - 1) / 256, 256>>>(dev_sums, dev_counts, dev_old, dev_means);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(host_means, dev_means, old_count * sizeof(float), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(host_counts, dev_counts, GROUPS * sizeof(int), cudaMemcpyDeviceToHost));

    write_output("data/means.bin", host_means, old_count * sizeof(float));
    write_output("data/counts.bin", host_counts, GROUPS * sizeof(int));

    cudaFree(dev_x);
    cudaFree(dev_label);
    cudaFree(dev_old);
    cudaFree(dev_means);
    cudaFree(dev_counts);
    cudaFree(dev_sums);
    free(host_x);
    free(host_label);
    free(host_old);
    free(host_means);
    free(host_counts);
    return 0;
}
