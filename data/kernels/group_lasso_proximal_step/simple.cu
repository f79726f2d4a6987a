#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define STOP_IF(condition, message)             \
    do {                                        \
        if (condition) {                        \
            fprintf(stderr, "%s\n", (message)); \
            exit(1);                            \
        }                                       \
    } while (0)

__global__ void proximalStep(const int* offsets, float* weights, const float* grad, float* norms, int groups) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= groups) return;
    float squares = 0;
    for (int i = offsets[k]; i < offsets[k + 1]; ++i) {
        weights[i] -= 0.125f * grad[i];
        squares += weights[i] * weights[i];
    }
    float length = sqrtf(squares);
    float shorter = length - 0.125f * 0.25f * sqrtf((float)(offsets[k + 1] - offsets[k]));
    if (shorter < 0) shorter = 0;
    for (int i = offsets[k]; i < offsets[k + 1]; ++i) weights[i] = length > 0 ? weights[i] * (shorter / length) : 0;
    norms[k] = shorter;
}

static void gpu(cudaError_t status) { STOP_IF(status != cudaSuccess, cudaGetErrorString(status)); }

static void* readFile(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* file = fopen(path, "rb");
    STOP_IF(!data || !file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF, path);
    fclose(file);
    return data;
}

static void* upload(const void* host, size_t bytes) {
    void* device;
    gpu(cudaMalloc(&device, bytes));
    gpu(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const void* device, size_t bytes) {
    void* host = malloc(bytes);
    STOP_IF(!host, "out of memory");
    gpu(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    STOP_IF(!file || fwrite(host, 1, bytes, file) != bytes || fclose(file), path);
    free(host);
}

int main() {
    int* sizes = (int*)readFile("data/sizes.bin", 8);
    int groups = sizes[0], count = sizes[1];
    STOP_IF(groups < 1 || groups > 1000000 || count < 1 || count > 16000000, "sizes out of range");
    int* offsets = (int*)readFile("data/offsets.bin", (groups + 1) * 4);
    STOP_IF(offsets[0] != 0 || offsets[groups] != count, "bad offsets");
    for (int k = 0; k < groups; ++k) STOP_IF(offsets[k] > offsets[k + 1], "bad offsets");
    size_t bytes = (size_t)count * 4;
    int* dOffsets = (int*)upload(offsets, (groups + 1) * 4);
    float* weights = (float*)upload(readFile("data/weights.bin", bytes), bytes);
    float* grad = (float*)upload(readFile("data/grad.bin", bytes), bytes);
    float* norms;
    gpu(cudaMalloc(&norms, groups * 4));
    proximalStep<<<(groups + 127) / 128, 128>>>(dOffsets, weights, grad, norms, groups);
    gpu(cudaGetLastError());
    writeFile("data/new_weights.bin", weights, bytes);
    writeFile("data/norms.bin", norms, groups * 4);
    return 0;
}
