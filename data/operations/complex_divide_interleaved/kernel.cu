#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

const int N = 7000;

#define CHECK(expr) do { cudaError_t e = (expr); if (e != cudaSuccess) {                                \
    fprintf(stderr, "%s failed: %s\n", #expr, cudaGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)

// Both numbers are scaled by the power of two of the larger denominator component.
__global__ void complex_divide_scaled(const float2* __restrict__ num, const float2* __restrict__ den,
                                      float2* __restrict__ quot, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float2 p = num[i], q = den[i];
        const int e = -ilogbf(fmaxf(fabsf(q.x), fabsf(q.y)));
        const float a = scalbnf(p.x, e), b = scalbnf(p.y, e);
        const float c = scalbnf(q.x, e), d = scalbnf(q.y, e);
        const float inv = 1.0f / fmaf(c, c, d * d);
        quot[i] = make_float2(fmaf(a, c, b * d) * inv, fmaf(b, c, -a * d) * inv);
    }
}

int main() {
    const int count = N * 2;
    const size_t bytes = count * sizeof(float);
    float* h_num = (float*)malloc(bytes);
    float* h_den = (float*)malloc(bytes);
    float* h_quot = (float*)malloc(bytes);

    FILE* f = fopen("data/num.bin", "rb");
    if (!f || fread(h_num, sizeof(float), count, f) != (size_t)count) {
        fprintf(stderr, "cannot read data/num.bin\n");
        return 1;
    }
    fclose(f);

    f = fopen("data/den.bin", "rb");
    if (!f || fread(h_den, sizeof(float), count, f) != (size_t)count) {
        fprintf(stderr, "cannot read data/den.bin\n");
        return 1;
    }
    fclose(f);

    float *d_num, *d_den, *d_quot;
    CHECK(cudaMalloc(&d_num, bytes));
    CHECK(cudaMalloc(&d_den, bytes));
    CHECK(cudaMalloc(&d_quot, bytes));
    CHECK(cudaMemcpy(d_num, h_num, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_den, h_den, bytes, cudaMemcpyHostToDevice));

    complex_divide_scaled<<<(N + 128 - 1) / 128, 128>>>((const float2*)d_num, (const float2*)d_den, (float2*)d_quot, N);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h_quot, d_quot, bytes, cudaMemcpyDeviceToHost));

    f = fopen("data/quot.bin", "wb");
    if (!f || fwrite(h_quot, sizeof(float), count, f) != (size_t)count) {
        fprintf(stderr, "cannot write data/quot.bin\n");
        return 1;
    }
    fclose(f);
    CHECK(cudaFree(d_quot));
    CHECK(cudaFree(d_den));
    CHECK(cudaFree(d_num));
    free(h_num);
    free(h_den);
    free(h_quot);
    return 0;
}
