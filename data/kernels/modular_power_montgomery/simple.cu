#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void power_mod(const uint64_t *base, const uint64_t *exponent, const uint64_t *modulus, uint64_t *power,
                          int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint64_t m = modulus[i], b = base[i] % m, result = 1;
    for (uint64_t e = exponent[i]; e != 0; e >>= 1) {
        if (e & 1) result = (uint64_t)((unsigned __int128)result * b % m);
        b = (uint64_t)((unsigned __int128)b * b % m);
    }
    power[i] = result;
}

static void die(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void cu(cudaError_t status, const char* what) {
    if (status != cudaSuccess) die(what, cudaGetErrorString(status));
}

static void* slurp(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) die(path, "wrong length");
    fclose(file);
    return data;
}

static void* upload(const char* path, size_t bytes) {
    void *host = slurp(path, bytes), *device = NULL;
    cu(cudaMalloc(&device, bytes), "cudaMalloc");
    cu(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), path);
    free(host);
    return device;
}

static void* reserve(size_t bytes) {
    void* device = NULL;
    cu(cudaMalloc(&device, bytes), "cudaMalloc");
    return device;
}

static void dump(const char* path, const void* device, size_t bytes) {
    void* host = malloc(bytes);
    if (!host) die(path, "out of memory");
    cu(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), path);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host, 1, bytes, file) != bytes || fclose(file) != 0) die(path, "cannot be written");
    free(host);
}

int main(void) {
    int n = *(int *)slurp("data/sizes.bin", sizeof(int));
    if (n < 1 || n > 4194304) die("data/sizes.bin", "n is out of range");
    size_t bytes = n * sizeof(uint64_t);
    uint64_t *host = (uint64_t *)slurp("data/modulus.bin", bytes);
    for (int i = 0; i < n; i++) {
        if (host[i] % 2 == 0 || host[i] < 3) die("data/modulus.bin", "a modulus is even or below 3");
    }
    free(host);
    uint64_t *base = (uint64_t *)upload("data/base.bin", bytes);
    uint64_t *exponent = (uint64_t *)upload("data/exponent.bin", bytes);
    uint64_t *modulus = (uint64_t *)upload("data/modulus.bin", bytes), *power = (uint64_t *)reserve(bytes);
    power_mod<<<(n + 127) / 128, 128>>>(base, exponent, modulus, power, n);
    cu(cudaGetLastError(), "launch");
    dump("data/power.bin", power, bytes);
    return 0;
}
