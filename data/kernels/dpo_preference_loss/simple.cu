#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void preference(const int* offsets, const float* policy, const float* base, float* loss, float* grad,
                           int pairs) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= pairs) return;
    double x = 0;
    for (int i = offsets[2 * k]; i < offsets[2 * k + 1]; ++i) x += policy[i] - base[i];
    for (int i = offsets[2 * k + 1]; i < offsets[2 * k + 2]; ++i) x -= policy[i] - base[i];
    x *= 0.125;
    float slope = (float)(0.125 / (1.0 + exp(x)));  // a double holds exp of some hundreds
    for (int i = offsets[2 * k]; i < offsets[2 * k + 1]; ++i) grad[i] = -slope;
    for (int i = offsets[2 * k + 1]; i < offsets[2 * k + 2]; ++i) grad[i] = slope;
    loss[k] = (float)((x < 0 ? -x : 0) + log1p(exp(-fabs(x))));
}

static void stop(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void cuda(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

static void* readFile(const char* path, size_t bytes) {
    char* data = (char*)malloc(bytes + 1);
    FILE* file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, bytes + 1, file) != bytes) stop(path);
    fclose(file);
    return data;
}

static void* toDevice(void* host, size_t bytes) {
    void* device;
    cuda(cudaMalloc(&device, bytes));
    cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, float* device, size_t count) {
    float* host = (float*)malloc(count * sizeof(float));
    if (!host) stop("out of memory");
    cuda(cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host, sizeof(float), count, file) != count || fclose(file)) stop(path);
    free(host);
}

int main() {
    int* sizes = (int*)readFile("data/sizes.bin", 8);
    int pairs = sizes[0], tokens = sizes[1];
    if (pairs < 1 || pairs > 100000 || tokens < 2 || tokens > 4000000) stop("sizes out of range");
    int* offsets = (int*)readFile("data/offsets.bin", (2 * pairs + 1) * sizeof(int));
    if (offsets[0] != 0 || offsets[2 * pairs] != tokens) stop("offsets");
    for (int a = 0; a < 2 * pairs; ++a)
        if (offsets[a] > offsets[a + 1]) stop("offsets");
    size_t bytes = tokens * sizeof(float);
    float* policy = (float*)toDevice(readFile("data/policy.bin", bytes), bytes);
    float* base = (float*)toDevice(readFile("data/base.bin", bytes), bytes);
    int* dOffsets = (int*)toDevice(offsets, (2 * pairs + 1) * sizeof(int));
    float *loss, *grad;
    cuda(cudaMalloc(&loss, pairs * sizeof(float)));
    cuda(cudaMalloc(&grad, bytes));
    preference<<<(pairs + 63) / 64, 64>>>(dOffsets, policy, base, loss, grad, pairs);
    cuda(cudaGetLastError());
    writeFile("data/loss.bin", loss, pairs);
    writeFile("data/grad.bin", grad, tokens);
    return 0;
}
