#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        cudaError_t status = (call);                                       \
        if (status != cudaSuccess) {                                       \
            fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));     \
            return 1;                                                      \
        }                                                                  \
    } while (0)

// Goes through the powers of the base until the target comes up, or 1 for the second time.
__global__ void discreteLogs(const int* prime, const int* base, const int* target, int* exponent, int problems) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= problems) return;
    unsigned long long p = prime[i], b = base[i], wanted = target[i], power = 1;
    int x = 0, answer = -1;
    do {
        if (power == wanted) {
            answer = x;
            break;
        }
        power = power * b % p;
        ++x;
    } while (power != 1);
    exponent[i] = answer;
}

static int readInts(const char* path, int* values, size_t count) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return 0;
    int good = fread(values, sizeof(int), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    return good;
}

int main() {
    int problems;
    if (!readInts("data/sizes.bin", &problems, 1) || problems < 1 || problems > 65535) {
        fprintf(stderr, "data/sizes.bin is missing or wrong\n");
        return 1;
    }
    int *prime, *base, *target, *exponent;
    CHECK(cudaMallocManaged(&prime, problems * sizeof(int)));
    CHECK(cudaMallocManaged(&base, problems * sizeof(int)));
    CHECK(cudaMallocManaged(&target, problems * sizeof(int)));
    CHECK(cudaMallocManaged(&exponent, problems * sizeof(int)));
    if (!readInts("data/prime.bin", prime, problems) || !readInts("data/base.bin", base, problems) ||
        !readInts("data/target.bin", target, problems)) {
        fprintf(stderr, "an input is missing or has the wrong length\n");
        return 1;
    }
    for (int i = 0; i < problems; ++i) {
        int p = prime[i];
        if (p < 3 || p > 4194301 || p % 2 == 0 || base[i] < 1 || base[i] >= p || target[i] < 1 || target[i] >= p) {
            fprintf(stderr, "problem %d is out of range\n", i);
            return 1;
        }
    }
    discreteLogs<<<(problems + 31) / 32, 32>>>(prime, base, target, exponent, problems);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    FILE* out = fopen("data/exponent.bin", "wb");
    if (!out || fwrite(exponent, sizeof(int), problems, out) != (size_t)problems || fclose(out) != 0) {
        fprintf(stderr, "data/exponent.bin cannot be written\n");
        return 1;
    }
    CHECK(cudaFree(prime));
    CHECK(cudaFree(base));
    CHECK(cudaFree(target));
    CHECK(cudaFree(exponent));
    return 0;
}
