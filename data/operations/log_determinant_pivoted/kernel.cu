#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 30
#define N 20
#define THREADS 128

#define CUDA_CHECK(call)                                                             \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

// The first warp finds the pivot by shuffles, then all threads share the update of the remaining square.
__global__ void log_det_square(const float* __restrict__ a, int* __restrict__ sign, float* __restrict__ log_abs) {
    __shared__ float m[N * (N + 1)];
    __shared__ float factor[N];
    __shared__ int pivotRow;
    const int ld = N + 1;
    const float* src = a + (size_t)blockIdx.x * N * N;
    for (int e = threadIdx.x; e < N * N; e += THREADS) m[e / N * ld + e % N] = src[e];
    __syncthreads();
    int s = 1;
    float total = 0.0f;
    for (int k = 0; k < N; ++k) {
        if (threadIdx.x < 32) {
            float best = -1.0f;
            int at = k;
            for (int i = k + threadIdx.x; i < N; i += 32) {
                const float v = fabsf(m[i * ld + k]);
                if (v > best) { best = v; at = i; }
            }
            for (int d = 16; d > 0; d /= 2) {
                const float v = __shfl_down_sync(0xffffffffu, best, d);
                const int w = __shfl_down_sync(0xffffffffu, at, d);
                if (v > best) { best = v; at = w; }
            }
            if (threadIdx.x == 0) pivotRow = at;
        }
        __syncthreads();
        const int r = pivotRow;
        const float p = m[r * ld + k];
        if (r != k) s = -s;
        if (p < 0.0f) s = -s;
        total += logf(fabsf(p));
        __syncthreads();
        if (r != k) {
            for (int j = k + threadIdx.x; j < N; j += THREADS) {
                const float upper = m[k * ld + j];
                m[k * ld + j] = m[r * ld + j];
                m[r * ld + j] = upper;
            }
        }
        __syncthreads();
        for (int i = k + 1 + threadIdx.x; i < N; i += THREADS) factor[i] = m[i * ld + k] / p;
        __syncthreads();
        const int left = N - k - 1;
        for (int e = threadIdx.x; e < left * left; e += THREADS) {
            const int i = k + 1 + e / left, j = k + 1 + e % left;
            m[i * ld + j] = fmaf(-factor[i], m[k * ld + j], m[i * ld + j]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sign[blockIdx.x] = s;
        log_abs[blockIdx.x] = total;
    }
}

static void read_input(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad input file %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_output(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    const size_t a_size = (size_t)BATCH * N * N;
    float* a = (float*)malloc(a_size * sizeof(float));
    int* sign = (int*)malloc(BATCH * sizeof(int));
    float* log_abs = (float*)malloc(BATCH * sizeof(float));

    read_input("data/a.bin", a, a_size * sizeof(float));

    float *d_a, *d_log_abs;
    int *d_sign;
    CUDA_CHECK(cudaMalloc(&d_a, a_size * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_sign, BATCH * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_log_abs, BATCH * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_a, a, a_size * sizeof(float), cudaMemcpyHostToDevice));
    log_det_square<<<BATCH, THREADS>>>(d_a, d_sign, d_log_abs);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(sign, d_sign, BATCH * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(log_abs, d_log_abs, BATCH * sizeof(float), cudaMemcpyDeviceToHost));
    write_output("data/sign.bin", sign, BATCH * sizeof(int));
    write_output("data/log_abs.bin", log_abs, BATCH * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_sign);
    cudaFree(d_log_abs);
    free(a);
    free(sign);
    free(log_abs);
    return 0;
}
