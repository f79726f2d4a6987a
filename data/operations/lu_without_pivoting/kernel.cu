#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_data(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

void write_data(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error writing %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

constexpr int BATCH = 40;
constexpr int N = 20;

// Crout-like order: step k finishes row k of U and column k of L by inner products, with nothing updated in between.
__global__ void lu_inner_products(const float* __restrict__ a, float* __restrict__ lu) {
    __shared__ float m[N * (N + 1)];
    const int ld = N + 1;
    const float* src = a + (size_t)blockIdx.x * N * N;
    for (int e = threadIdx.x; e < N * N; e += blockDim.x) m[e / N * ld + e % N] = src[e];
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        for (int j = k + threadIdx.x; j < N; j += blockDim.x) {
            float sum = m[k * ld + j];
            for (int p = 0; p < k; ++p) sum = fmaf(-m[k * ld + p], m[p * ld + j], sum);
            m[k * ld + j] = sum;
        }
        __syncthreads();
        const float inv = 1.0f / m[k * ld + k];
        for (int i = k + 1 + threadIdx.x; i < N; i += blockDim.x) {
            float sum = m[i * ld + k];
            for (int p = 0; p < k; ++p) sum = fmaf(-m[i * ld + p], m[p * ld + k], sum);
            m[i * ld + k] = sum * inv;
        }
        __syncthreads();
    }
    float* dst = lu + (size_t)blockIdx.x * N * N;
    for (int e = threadIdx.x; e < N * N; e += blockDim.x) dst[e] = m[e / N * ld + e % N];
}

int main() {
    const size_t count_a = (size_t)BATCH * N * N;
    float* h_a = new float[count_a];
    float* h_lu = new float[count_a];
    read_data("data/a.bin", h_a, count_a * sizeof(float));

    float *d_a, *d_lu;
    cudaMalloc(&d_a, count_a * sizeof(float));
    cudaMalloc(&d_lu, count_a * sizeof(float));
    cudaMemcpy(d_a, h_a, count_a * sizeof(float), cudaMemcpyHostToDevice);

    lu_inner_products<<<BATCH, 64>>>(d_a, d_lu);

    cudaMemcpy(h_lu, d_lu, count_a * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/lu.bin", h_lu, count_a * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_lu);
    delete[] h_a;
    delete[] h_lu;
    return 0;
}
