#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// Trial division by 2 and all odd numbers.
__global__ void totients(unsigned start, int count, unsigned* totient, unsigned char* primes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned rest = start + i, phi = rest;
    int distinct = 0;
    for (unsigned p = 2; p < 65536 && p * p <= rest; p += p == 2 ? 1 : 2) {
        if (rest % p != 0) continue;
        while (rest % p == 0) rest /= p;
        phi -= phi / p;
        ++distinct;
    }
    if (rest > 1) {
        phi -= phi / rest;
        ++distinct;
    }
    totient[i] = phi;
    primes[i] = (unsigned char)distinct;
}

static void require(bool good, const char* text) {
    if (good) return;
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void cuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static unsigned readNumber(const char* path) {
    unsigned value;
    FILE* f = fopen(path, "rb");
    require(f && fread(&value, 4, 1, f) == 1 && fgetc(f) == EOF, path);
    fclose(f);
    return value;
}

static void writeBytes(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    require(f && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0, path);
}

int main() {
    unsigned count = readNumber("data/sizes.bin"), start = readNumber("data/start.bin");
    require(count >= 1 && count <= 8388608, "count is out of range");
    require(start >= 1 && start <= 0xffffffffu - (count - 1), "start is out of range");
    unsigned* totient;
    unsigned char* primes;
    cuda(cudaMallocManaged(&totient, count * sizeof(unsigned)));
    cuda(cudaMallocManaged(&primes, count));
    totients<<<(count + 127) / 128, 128>>>(start, (int)count, totient, primes);
    cuda(cudaGetLastError());
    cuda(cudaDeviceSynchronize());
    writeBytes("data/totient.bin", totient, count * sizeof(unsigned));
    writeBytes("data/primes.bin", primes, count);
    cuda(cudaFree(totient));
    cuda(cudaFree(primes));
    return 0;
}
