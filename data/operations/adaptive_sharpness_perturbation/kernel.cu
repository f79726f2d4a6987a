#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>

#define N 16000

constexpr int kBlocks = 512;

__device__ double block_sum(double v) {
    __shared__ double warps[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    double sum = 0.0;
    for (int w = 0; w < 8; ++w) sum += warps[w];
    return sum;
}

__global__ void partial_squares(const float* __restrict__ weight, const float* __restrict__ grad, double* partial) {
    double sum = 0.0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += kBlocks * 256) {
        const float v = (fabsf(weight[i]) + 0.01f) * grad[i];
        sum += (double)v * v;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Every block adds the partial sums again, in the same order, and then moves its share of the weights.
__global__ void perturb_strided(const float* __restrict__ weight, const float* __restrict__ grad,
                                const double* __restrict__ partial, float* __restrict__ perturbed, float* norm) {
    const double total = block_sum(partial[threadIdx.x] + partial[threadIdx.x + 256]);
    const float length = (float)sqrt(total);
    const float scale = 0.5f / (length + 1e-12f);
    if (blockIdx.x == 0 && threadIdx.x == 0) *norm = length;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += kBlocks * 256) {
        const float w = weight[i];
        const float t = fabsf(w) + 0.01f;
        perturbed[i] = fmaf(scale * grad[i] * t, t, w);
    }
}

int main() {
    std::vector<float> host_weight(N);
    std::vector<float> host_grad(N);
    std::vector<float> host_perturbed(N);
    std::vector<float> host_norm(1);
    FILE* f = fopen("data/weight.bin", "rb");
    if (!f || fread(host_weight.data(), sizeof(float), host_weight.size(), f) != host_weight.size()) return -1;
    fclose(f);
    f = fopen("data/grad.bin", "rb");
    if (!f || fread(host_grad.data(), sizeof(float), host_grad.size(), f) != host_grad.size()) return -1;
    fclose(f);
    float *d_weight, *d_grad, *d_perturbed, *d_norm;
    double* d_partial;
    cudaMalloc(&d_weight, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMalloc(&d_perturbed, N * sizeof(float));
    cudaMalloc(&d_norm, sizeof(float));
    cudaMalloc(&d_partial, 512 * sizeof(double));
    cudaMemcpy(d_weight, host_weight.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, host_grad.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    partial_squares<<<kBlocks, 256>>>(d_weight, d_grad, d_partial);
    perturb_strided<<<kBlocks, 256>>>(d_weight, d_grad, d_partial, d_perturbed, d_norm);
    cudaMemcpy(host_perturbed.data(), d_perturbed, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_norm.data(), d_norm, sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/perturbed.bin", "wb");
    fwrite(host_perturbed.data(), sizeof(float), host_perturbed.size(), f);
    fclose(f);
    f = fopen("data/norm.bin", "wb");
    fwrite(host_norm.data(), sizeof(float), host_norm.size(), f);
    fclose(f);
}
