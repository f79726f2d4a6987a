#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 128
#define MAX_N 4194304

__device__ signed char jacobi(long long a, unsigned long long m) {
    const unsigned long long size = a < 0 ? 0ull - (unsigned long long)a : (unsigned long long)a;
    unsigned long long r = size % m;
    if (a < 0 && r > 0) r = m - r;
    unsigned sign = 0;  // bit 1
    while (r != 0) {
        const int zeros = __ffsll((long long)r) - 1;
        r >>= zeros;
        if (zeros & 1) sign ^= (unsigned)(m ^ m >> 1);
        if (r < m) {
            sign ^= (unsigned)(r & m);
            const unsigned long long other = r;
            r = m;
            m = other;
        }
        r -= m;
    }
    return m != 1 ? 0 : sign & 2 ? -1 : 1;
}

__global__ void jacobiPairs(const longlong2* a, const ulonglong2* m, char2* symbol, int n) {
    const int pairs = n / 2;
    for (int t = blockIdx.x * THREADS + threadIdx.x; t < pairs; t += gridDim.x * THREADS) {
        const longlong2 x = a[t];
        const ulonglong2 y = m[t];
        symbol[t] = make_char2(jacobi(x.x, y.x), jacobi(x.y, y.y));
    }
    if (n % 2 == 1 && blockIdx.x == 0 && threadIdx.x == 0)
        ((signed char*)symbol)[n - 1] = jacobi(((const long long*)a)[n - 1], ((const unsigned long long*)m)[n - 1]);
}

static int loadFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        return 0;
    }
    const int good = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    if (!good) fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
    return good;
}

static int failed(cudaError_t status, const char* where) {
    if (status != cudaSuccess) fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
    return status != cudaSuccess;
}

int main(void) {
    int n = 0;
    if (!loadFile("data/sizes.bin", &n, sizeof n)) return 1;
    if (n < 1 || n > MAX_N) {
        fprintf(stderr, "data/sizes.bin: n is %d, expected 1 to %d\n", n, MAX_N);
        return 1;
    }
    const size_t bytes = (size_t)n * 8;
    long long* a = (long long*)malloc(bytes);
    unsigned long long* m = (unsigned long long*)malloc(bytes);
    signed char* symbol = (signed char*)malloc(n);
    if (!a || !m || !symbol) return 2;
    if (!loadFile("data/a.bin", a, bytes) || !loadFile("data/m.bin", m, bytes)) return 1;
    for (int i = 0; i < n; ++i) {
        if (m[i] % 2 == 0) {
            fprintf(stderr, "data/m.bin: entry %d is even\n", i);
            return 1;
        }
    }

    longlong2* dA;
    ulonglong2* dM;
    char2* dSymbol;
    if (failed(cudaMalloc((void**)&dA, bytes), "cudaMalloc a")) return 3;
    if (failed(cudaMalloc((void**)&dM, bytes), "cudaMalloc m")) return 3;
    if (failed(cudaMalloc((void**)&dSymbol, n), "cudaMalloc symbol")) return 3;
    if (failed(cudaMemcpy(dA, a, bytes, cudaMemcpyHostToDevice), "copy a")) return 3;
    if (failed(cudaMemcpy(dM, m, bytes, cudaMemcpyHostToDevice), "copy m")) return 3;
    int blocks = (n / 2 + THREADS - 1) / THREADS;
    if (blocks < 1) blocks = 1;
    if (blocks > 4096) blocks = 4096;
    jacobiPairs<<<blocks, THREADS>>>(dA, dM, dSymbol, n);
    if (failed(cudaGetLastError(), "launch")) return 3;
    if (failed(cudaMemcpy(symbol, dSymbol, n, cudaMemcpyDeviceToHost), "copy symbol")) return 3;
    cudaFree(dA);
    cudaFree(dM);
    cudaFree(dSymbol);

    FILE* out = fopen("data/symbol.bin", "wb");
    if (!out || fwrite(symbol, 1, n, out) != (size_t)n || fclose(out) != 0) {
        fprintf(stderr, "data/symbol.bin: cannot be written\n");
        return 1;
    }
    free(a);
    free(m);
    free(symbol);
    return 0;
}
