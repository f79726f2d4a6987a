#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 12000;

// With the larger magnitude first, three operations are enough.
__device__ float2 fast_two_sum(float x, float y) {
    const bool swap = fabsf(x) < fabsf(y);
    const float big = swap ? y : x;
    const float small = swap ? x : y;
    const float s = __fadd_rn(big, small);
    return make_float2(s, __fsub_rn(small, __fsub_rn(s, big)));
}

__global__ void two_sum_pairs(const float2* __restrict__ a, const float2* __restrict__ b, float2* __restrict__ sum,
                              float2* __restrict__ error, int pairs) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += stride) {
        const float2 x = a[i], y = b[i];
        const float2 first = fast_two_sum(x.x, y.x);
        const float2 second = fast_two_sum(x.y, y.y);
        sum[i] = make_float2(first.x, second.x);
        error[i] = make_float2(first.y, second.y);
    }
}

int main() {
    std::vector<float> h_a(N);
    std::vector<float> h_b(N);
    std::vector<float> h_sum(N);
    std::vector<float> h_error(N);
    FILE* f = fopen("data/a.bin", "rb");
    if (!f || fread(h_a.data(), sizeof(float), N, f) != N) return 1;
    fclose(f);
    f = fopen("data/b.bin", "rb");
    if (!f || fread(h_b.data(), sizeof(float), N, f) != N) return 1;
    fclose(f);
    float *d_a, *d_b, *d_sum, *d_error;
    cudaMalloc(&d_a, N * sizeof(float));
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMalloc(&d_sum, N * sizeof(float));
    cudaMalloc(&d_error, N * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    const int pairs = N / 2;  // the vectors have an even length
    two_sum_pairs<<<1024, 128>>>((const float2*)d_a, (const float2*)d_b, (float2*)d_sum, (float2*)d_error, pairs);
    cudaMemcpy(h_sum.data(), d_sum, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error.data(), d_error, N * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/sum.bin", "wb");
    fwrite(h_sum.data(), sizeof(float), N, f);
    fclose(f);
    f = fopen("data/error.bin", "wb");
    fwrite(h_error.data(), sizeof(float), N, f);
    fclose(f);
    cudaFree(d_a); cudaFree(d_b); cudaFree(d_sum); cudaFree(d_error);
    return 0;
}
