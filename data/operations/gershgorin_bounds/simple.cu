#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define BATCH 20
#define N 50
#define BLOCK 128

#define CK(call) \
    do { \
        const cudaError_t err = (call); \
        if (err) { \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(err)); \
            exit(2); \
        } \
    } while (0)

__global__ void gershgorin(const float* a, float* bounds, int* dominant) {
    __shared__ float low[BLOCK], high[BLOCK];
    __shared__ int rows[BLOCK];
    int t = threadIdx.x;
    const float* m = a + (size_t)blockIdx.x * N * N;
    low[t] = FLT_MAX;
    high[t] = -FLT_MAX;
    rows[t] = 0;
    for (int i = t; i < N; i += BLOCK) {
        float radius = 0.0f;
        for (int j = 0; j < N; ++j) {
            if (j != i) radius += fabsf(m[i * N + j]);
        }
        float centre = m[i * N + i];
        low[t] = fminf(low[t], centre - radius);
        high[t] = fmaxf(high[t], centre + radius);
        if (fabsf(centre) > radius) rows[t]++;
    }
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) {
            low[t] = fminf(low[t], low[t + s]);
            high[t] = fmaxf(high[t], high[t + s]);
            rows[t] += rows[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        bounds[2 * blockIdx.x] = low[0];
        bounds[2 * blockIdx.x + 1] = high[0];
        dominant[blockIdx.x] = rows[0];
    }
}

static void read_input(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
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
    float* host_a = (float*)malloc(sizeof(float) * BATCH * N * N);
    float* host_bounds = (float*)malloc(sizeof(float) * BATCH * 2);
    int* host_dominant = (int*)malloc(BATCH * sizeof(int));
    read_input("data/a.bin", host_a, sizeof(float) * BATCH * N * N);

    float *d_a, *d_bounds;
    int *d_dominant;
    CK(cudaMalloc(&d_a, sizeof(float) * BATCH * N * N));
    CK(cudaMalloc(&d_bounds, sizeof(float) * BATCH * 2));
    CK(cudaMalloc(&d_dominant, BATCH * sizeof(int)));
    CK(cudaMemcpy(d_a, host_a, sizeof(float) * BATCH * N * N, cudaMemcpyHostToDevice));
    gershgorin<<<BATCH, BLOCK>>>(d_a, d_bounds, d_dominant);
    CK(cudaGetLastError());

    CK(cudaMemcpy(host_bounds, d_bounds, sizeof(float) * BATCH * 2, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(host_dominant, d_dominant, BATCH * sizeof(int), cudaMemcpyDeviceToHost));
    write_output("data/bounds.bin", host_bounds, sizeof(float) * BATCH * 2);
    write_output("data/dominant.bin", host_dominant, BATCH * sizeof(int));

    cudaFree(d_a);
    cudaFree(d_bounds);
    cudaFree(d_dominant);
    free(host_a);
    free(host_bounds);
    free(host_dominant);
    return 0;
}
