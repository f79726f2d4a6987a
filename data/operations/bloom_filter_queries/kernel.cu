#include <cstdio>
#include <cuda_runtime.h>

#define KEYS 1000
#define QUERIES 3000
#define WORDS 256
#define BITS (WORDS * 32u)

struct KeyHash {
    unsigned int value, step;
    __device__ explicit KeyHash(unsigned int x) : value(x), step((x * 0x9E3779B1u) | 1u) {
        value = (value ^ (value >> 16)) * 0x85EBCA6Bu;
        value = (value ^ (value >> 13)) * 0xC2B2AE35u;
        value ^= value >> 16;
    }
    __device__ unsigned int next() {
        unsigned int bit = value % BITS;
        value += step;
        return bit;
    }
};

__global__ void build(const unsigned int* __restrict__ members, unsigned int* filter) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < KEYS; i += gridDim.x * blockDim.x) {
        KeyHash hash(members[i]);
        for (int j = 0; j < 4; ++j) {
            unsigned int bit = hash.next();
            atomicOr(filter + (bit >> 5), 1u << (bit & 31u));
        }
    }
}

__global__ void probe(const unsigned int* __restrict__ probes, const unsigned int* __restrict__ filter,
                      unsigned char* __restrict__ found) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < QUERIES; i += gridDim.x * blockDim.x) {
        KeyHash hash(probes[i]);
        bool hit = true;
        for (int j = 0; j < 4 && hit; ++j) {
            unsigned int bit = hash.next();
            hit = (filter[bit >> 5] >> (bit & 31u)) & 1u;
        }
        found[i] = hit ? 1 : 0;
    }
}

int main() {
    unsigned int *before, *members, *probes, *filter;
    unsigned char *found;
    cudaMallocManaged(&before, WORDS * sizeof(unsigned int));
    cudaMallocManaged(&members, KEYS * sizeof(unsigned int));
    cudaMallocManaged(&probes, QUERIES * sizeof(unsigned int));
    cudaMallocManaged(&filter, WORDS * sizeof(unsigned int));
    cudaMallocManaged(&found, QUERIES * sizeof(unsigned char));

    FILE* f = fopen("data/before.bin", "rb");
    if (f == NULL || fread(before, sizeof(unsigned int), WORDS, f) != (size_t)WORDS) {
        fprintf(stderr, "bad input: data/before.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/members.bin", "rb");
    if (f == NULL || fread(members, sizeof(unsigned int), KEYS, f) != (size_t)KEYS) {
        fprintf(stderr, "bad input: data/members.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/probes.bin", "rb");
    if (f == NULL || fread(probes, sizeof(unsigned int), QUERIES, f) != (size_t)QUERIES) {
        fprintf(stderr, "bad input: data/probes.bin\n");
        return 1;
    }
    fclose(f);

    const int threads = 256, most = 2048;
    cudaMemcpy(filter, before, WORDS * sizeof(unsigned int), cudaMemcpyDeviceToDevice);
    build<<<min(most, (KEYS + threads - 1) / threads), threads>>>(members, filter);
    probe<<<min(most, (QUERIES + threads - 1) / threads), threads>>>(probes, filter, found);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/filter.bin", "wb");
    fwrite(filter, sizeof(unsigned int), WORDS, out);
    fclose(out);
    out = fopen("data/found.bin", "wb");
    fwrite(found, sizeof(unsigned char), QUERIES, out);
    fclose(out);
    cudaFree(before);
    cudaFree(members);
    cudaFree(probes);
    cudaFree(filter);
    cudaFree(found);
    return 0;
}
