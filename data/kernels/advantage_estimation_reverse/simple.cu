#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// One thread walks one environment from its last step to its first.
__global__ void walkBack(const float* rewards, const float* values, const unsigned char* done, float* advantages,
                         float* returns, int envs, int steps) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= envs) return;
    float later = 0.0f;
    for (int t = steps - 1; t >= 0; --t) {
        size_t at = (size_t)n * steps + t;
        float value = values[at + n], next = values[at + n + 1];
        float on = done[at] ? 0.0f : 1.0f;
        later = rewards[at] + 0.99f * on * next - value + 0.99f * 0.95f * on * later;
        advantages[at] = later;
        returns[at] = later + value;
    }
}

static void must(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void cuda(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }

static void* readFile(const char* path, size_t bytes) {
    void* buffer = malloc(bytes);
    FILE* f = fopen(path, "rb");
    must(buffer && f && fread(buffer, 1, bytes, f) == bytes && fgetc(f) == EOF, path);
    fclose(f);
    return buffer;
}

static void* toDevice(const char* path, size_t bytes) {
    void *host = readFile(path, bytes), *device;
    cuda(cudaMalloc(&device, bytes));
    cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static void writeFile(const char* path, const float* device, size_t count) {
    float* host = (float*)malloc(count * sizeof(float));
    must(host != NULL, "malloc");
    cuda(cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* f = fopen(path, "wb");
    must(f && fwrite(host, sizeof(float), count, f) == count && fclose(f) == 0, path);
    free(host);
}

int main(void) {
    int* sizes = (int*)readFile("data/sizes.bin", 2 * sizeof(int));
    int envs = sizes[0], steps = sizes[1];
    must(envs >= 1 && envs <= 100000 && steps >= 1 && steps <= 100000, "sizes");
    size_t cells = (size_t)envs * steps;
    float* rewards = (float*)toDevice("data/rewards.bin", cells * sizeof(float));
    float* values = (float*)toDevice("data/values.bin", (cells + envs) * sizeof(float));
    unsigned char* done = (unsigned char*)toDevice("data/done.bin", cells);
    float *advantages, *returns;
    cuda(cudaMalloc(&advantages, cells * sizeof(float)));
    cuda(cudaMalloc(&returns, cells * sizeof(float)));
    walkBack<<<(envs + 63) / 64, 64>>>(rewards, values, done, advantages, returns, envs, steps);
    cuda(cudaGetLastError());
    writeFile("data/advantages.bin", advantages, cells);
    writeFile("data/returns.bin", returns, cells);
    return 0;
}
