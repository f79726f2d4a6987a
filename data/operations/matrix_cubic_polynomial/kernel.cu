#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int COUNT = 60;
constexpr int N = 16;
constexpr int MATS = 4;

inline void check_cuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool load_vector(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool save_vector(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

// Horner's scheme; each thread keeps one column of the matrix in registers and walks down the rows.
__global__ void cubic_horner(const float* __restrict__ a, const float* __restrict__ coef, float* __restrict__ p) {
    __shared__ float left[MATS][N][N];
    const int j = threadIdx.x, slot = threadIdx.y;
    const int s = blockIdx.x * MATS + slot;
    const bool live = s < COUNT;
    float column[N], result[N];
    for (int k = 0; k < N; ++k) {
        column[k] = live ? a[((size_t)s * N + k) * N + j] : 0.0f;
        left[slot][k][j] = coef[3] * column[k] + (k == j ? coef[2] : 0.0f);
    }
    for (int pass = 1; pass >= 0; --pass) {
        __syncthreads();
        for (int i = 0; i < N; ++i) {
            float sum = i == j ? coef[pass] : 0.0f;
            for (int k = 0; k < N; ++k) sum = fmaf(left[slot][i][k], column[k], sum);
            result[i] = sum;
        }
        __syncthreads();
        for (int i = 0; i < N; ++i) left[slot][i][j] = result[i];
    }
    if (!live) return;
    for (int i = 0; i < N; ++i) p[((size_t)s * N + i) * N + j] = result[i];
}

int main() {
    const size_t a_size = (size_t)COUNT * N * N;
    std::vector<float> host_a(a_size);
    std::vector<float> host_coef(4);
    std::vector<float> host_p(a_size);
    if (!load_vector("data/a.bin", host_a) || !load_vector("data/coef.bin", host_coef)) {
        fprintf(stderr, "input missing\n");
        return 1;
    }

    float *d_a = nullptr, *d_coef = nullptr, *d_p = nullptr;
    check_cuda(cudaMalloc(&d_a, a_size * sizeof(float)), "cudaMalloc a");
    check_cuda(cudaMalloc(&d_coef, 4 * sizeof(float)), "cudaMalloc coef");
    check_cuda(cudaMalloc(&d_p, a_size * sizeof(float)), "cudaMalloc p");
    check_cuda(cudaMemcpy(d_a, host_a.data(), a_size * sizeof(float), cudaMemcpyHostToDevice), "copy a");
    check_cuda(cudaMemcpy(d_coef, host_coef.data(), 4 * sizeof(float), cudaMemcpyHostToDevice), "copy coef");

    cubic_horner<<<(COUNT + MATS - 1) / MATS, dim3(N, MATS)>>>(d_a, d_coef, d_p);
    check_cuda(cudaGetLastError(), "launch");
    check_cuda(cudaMemcpy(host_p.data(), d_p, a_size * sizeof(float), cudaMemcpyDeviceToHost), "copy p");

    if (!save_vector("data/p.bin", host_p)) return 1;
    cudaFree(d_a);
    cudaFree(d_coef);
    cudaFree(d_p);
    return 0;
}
