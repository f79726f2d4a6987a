#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK_CUDA(call) \
    do { \
        const cudaError_t e = (call); \
        if (e) { \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(e)); \
            exit(2); \
        } \
    } while (0)

#define N 100
#define ALPHA 1.5f
#define BETA -0.75f
#define GAMMA 2.0f

__global__ void combine(const float* a, const float* b, float* c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= N || j >= N) return;
    float value = ALPHA * a[i * N + j] + BETA * b[j * N + i];
    if (i == j) value += GAMMA;
    c[i * N + j] = value;
}

static void load_data(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad input file %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void store_data(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    const size_t a_count = (size_t)N * N;
    float* h_a = (float*)malloc(a_count * sizeof(float));
    float* h_b = (float*)malloc(a_count * sizeof(float));
    float* h_c = (float*)malloc(a_count * sizeof(float));

    load_data("data/a.bin", h_a, a_count * sizeof(float));
    load_data("data/b.bin", h_b, a_count * sizeof(float));

    float *d_a, *d_b, *d_c;
    CHECK_CUDA(cudaMalloc(&d_a, a_count * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_b, a_count * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_c, a_count * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_a, h_a, a_count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_b, h_b, a_count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 threads(16, 16);
    dim3 blocks((N + 15) / 16, (N + 15) / 16);
    combine<<<blocks, threads>>>(d_a, d_b, d_c);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    CHECK_CUDA(cudaMemcpy(h_c, d_c, a_count * sizeof(float), cudaMemcpyDeviceToHost));
    store_data("data/c.bin", h_c, a_count * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    free(h_a);
    free(h_b);
    free(h_c);
    return 0;
}
