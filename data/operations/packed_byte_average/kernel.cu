#include <cstdio>
#include <cuda_runtime.h>

#define N 18000

// (x + y + 1) / 2 = (x | y) - ((x ^ y) >> 1) for all four bytes at once; the mask drops bits from the next byte.
__global__ void byte_ops_swar(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b,
                              unsigned int *__restrict__ mean, unsigned int *__restrict__ diff, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned int x = a[i], y = b[i];
        mean[i] = (x | y) - (((x ^ y) >> 1) & 0x7f7f7f7fu);
        // even and odd bytes in 16-bit lanes with a guard bit above each byte
        unsigned int d = 0;
        for (int odd = 0; odd < 16; odd += 8) {
            const unsigned int p = (x >> odd) & 0x00ff00ffu, q = (y >> odd) & 0x00ff00ffu;
            const unsigned int s = (p | 0x01000100u) - q;
            const unsigned int negative = (~s >> 8) & 0x00010001u;
            const unsigned int all = negative * 0xffu;
            d |= (((s & 0x00ff00ffu) ^ all) + negative) << odd;
        }
        diff[i] = d;
    }
}

int main() {
    size_t bytes = N * sizeof(unsigned int);
    unsigned int *a = new unsigned int[N];
    unsigned int *b = new unsigned int[N];
    unsigned int *mean = new unsigned int[N];
    unsigned int *diff = new unsigned int[N];
    FILE* f = fopen("data/a.bin", "rb");
    if (!f || fread(a, sizeof(unsigned int), N, f) != N) return 1;
    fclose(f);
    f = fopen("data/b.bin", "rb");
    if (!f || fread(b, sizeof(unsigned int), N, f) != N) return 1;
    fclose(f);
    unsigned int *d_a = nullptr, *d_b = nullptr, *d_mean = nullptr, *d_diff = nullptr;
    cudaMalloc(&d_a, bytes);
    cudaMalloc(&d_b, bytes);
    cudaMalloc(&d_mean, bytes);
    cudaMalloc(&d_diff, bytes);
    cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice);
    byte_ops_swar<<<1024, 256>>>(d_a, d_b, d_mean, d_diff, N);
    cudaMemcpy(mean, d_mean, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(diff, d_diff, bytes, cudaMemcpyDeviceToHost);
    f = fopen("data/mean.bin", "wb");
    fwrite(mean, sizeof(unsigned int), N, f);
    fclose(f);
    f = fopen("data/diff.bin", "wb");
    fwrite(diff, sizeof(unsigned int), N, f);
    fclose(f);
    cudaFree(d_a); cudaFree(d_b); cudaFree(d_mean); cudaFree(d_diff);
    return 0;
}
