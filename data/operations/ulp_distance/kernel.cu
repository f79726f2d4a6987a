#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int N = 10000;

// Same signs: difference of the magnitudes; different signs: their sum. Both fit in 32 unsigned bits.
__global__ void ulp_unsigned(const unsigned int* __restrict__ a, const unsigned int* __restrict__ b,
                             long long* __restrict__ ulps, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const unsigned int p = a[i], q = b[i];
        const unsigned int x = p & 0x7fffffffu, y = q & 0x7fffffffu;
        const bool opposite = (p ^ q) >> 31;
        ulps[i] = opposite ? x + y : max(x, y) - min(x, y);
    }
}

static void readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

void solve(const float* d_a, const float* d_b, long long* d_ulps) {
    ulp_unsigned<<<min((N + 255) / 256, 2048), 256>>>((const unsigned int*)d_a, (const unsigned int*)d_b, d_ulps, N);
}

int main() {
    std::vector<float> host_a(N);
    std::vector<float> host_b(N);
    std::vector<long long> host_ulps(N);
    readFile("data/a.bin", host_a.data(), N * sizeof(float));
    readFile("data/b.bin", host_b.data(), N * sizeof(float));

    float *d_a, *d_b;
    long long* d_ulps;
    cudaMalloc(&d_a, N * sizeof(float));
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMalloc(&d_ulps, N * sizeof(long long));
    cudaMemcpy(d_a, host_a.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, host_b.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_a, d_b, d_ulps);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "kernel launch failed\n");
        return 1;
    }
    cudaMemcpy(host_ulps.data(), d_ulps, N * sizeof(long long), cudaMemcpyDeviceToHost);

    FILE* out = fopen("data/ulps.bin", "wb");
    fwrite(host_ulps.data(), sizeof(long long), host_ulps.size(), out);
    fclose(out);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_ulps);
    return 0;
}
