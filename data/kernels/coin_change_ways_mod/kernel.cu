#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULUS 1000000007u

__device__ unsigned add(unsigned a, unsigned b) {
    unsigned sum = a + b;  // below 2^32, as both are below the modulus
    return sum >= MODULUS ? sum - MODULUS : sum;
}

__global__ void add_coin(unsigned *ways, int amount, int c) {
    int lane = threadIdx.x % 32;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    for (int r = warp; r < c; r += warps) {
        unsigned carry = 0;
        for (long long first = r; first <= amount; first += 32LL * c) {
            long long s = first + (long long)lane * c;
            unsigned sum = s <= amount ? ways[s] : 0;
            for (int distance = 1; distance < 32; distance *= 2) {
                unsigned below = __shfl_up_sync(0xffffffffu, sum, distance);
                if (lane >= distance) sum = add(sum, below);
            }
            sum = add(sum, carry);
            if (s <= amount) ways[s] = sum;
            carry = __shfl_sync(0xffffffffu, sum, 31);
        }
    }
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
    int *sizes = (int *)slurp("data/sizes.bin", 2 * sizeof(int));
    int coins = sizes[0], amount = sizes[1];
    if (coins < 1 || coins > 256 || amount < 1 || amount > 4194304) die("data/sizes.bin", "out of range");
    int *values = (int *)slurp("data/values.bin", coins * sizeof(int));
    size_t bytes = (size_t)(amount + 1) * sizeof(unsigned);
    unsigned *ways = (unsigned *)reserve(bytes), one = 1;
    cu(cudaMemset(ways, 0, bytes), "clear");
    cu(cudaMemcpy(ways, &one, sizeof(one), cudaMemcpyHostToDevice), "start");
    for (int k = 0; k < coins; k++) {
        if (values[k] < 1) die("data/values.bin", "a coin is worth less than 1");
        if (values[k] > amount) continue;
        int blocks = (values[k] + 7) / 8;
        add_coin<<<blocks < 4096 ? blocks : 4096, 256>>>(ways, amount, values[k]);
    }
    cu(cudaGetLastError(), "launch");
    dump("data/ways.bin", ways, bytes);
    return 0;
}
