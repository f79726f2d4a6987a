#include <cuda_runtime.h>
#include <cstdio>

#define N 10000

// Kahan: the rounding error of c * d is recovered with a fused multiply-add and put back at the end.
__device__ float diff_of_products(float a, float b, float c, float d) {
    const float cd = __fmul_rn(c, d);
    const float error = fmaf(-c, d, cd);
    return fmaf(a, b, -cd) + error;
}

__global__ void difference_fma(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ c,
                               const float* __restrict__ d, float* __restrict__ result, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        result[i] = diff_of_products(a[i], b[i], c[i], d[i]);
    }
}

static bool readAll(const char* path, void* p, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(p, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

int main() {
    float *a, *b, *c, *d, *result;
    cudaMallocManaged(&a, N * sizeof(float));
    cudaMallocManaged(&b, N * sizeof(float));
    cudaMallocManaged(&c, N * sizeof(float));
    cudaMallocManaged(&d, N * sizeof(float));
    cudaMallocManaged(&result, N * sizeof(float));
    if (!readAll("data/a.bin", a, N * sizeof(float))) {
        fprintf(stderr, "cannot read data/a.bin\n");
        return 1;
    }
    if (!readAll("data/b.bin", b, N * sizeof(float))) {
        fprintf(stderr, "cannot read data/b.bin\n");
        return 1;
    }
    if (!readAll("data/c.bin", c, N * sizeof(float))) {
        fprintf(stderr, "cannot read data/c.bin\n");
        return 1;
    }
    if (!readAll("data/d.bin", d, N * sizeof(float))) {
        fprintf(stderr, "cannot read data/d.bin\n");
        return 1;
    }

    difference_fma<<<1024, 256>>>(a, b, c, d, result, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_file = fopen("data/result.bin", "wb");
    fwrite(result, sizeof(float), N, out_file);
    fclose(out_file);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
    cudaFree(result);
    return 0;
}
