#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK_CUDA(call) \
    do { \
        const cudaError_t err = (call); \
        if (err) { \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(err)); \
            exit(2); \
        } \
    } while (0)

#define BATCH 20
#define N 100

// c is kept doubled in shared memory, so no remainder is needed, and each thread works on four vectors at a time.
__global__ void circulant_doubled(const float* __restrict__ c, const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float twice[2 * N];
    for (int k = threadIdx.x; k < 2 * N; k += blockDim.x) twice[k] = c[k < N ? k : k - N];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int b0 = blockIdx.y * 4;
    if (i >= N) return;
    const int live = min(4, BATCH - b0);
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = 0; j < N; ++j) {
        const float weight = twice[i - j + N];
        for (int k = 0; k < 4; ++k) {
            if (k < live) sum[k] = fmaf(weight, x[(b0 + k) * N + j], sum[k]);
        }
    }
    for (int k = 0; k < live; ++k) y[(b0 + k) * N + i] = sum[k];
}

static void slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad input file %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void dump(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main(void) {
    const size_t count_x = (size_t)BATCH * N;
    float* h_c = (float*)malloc(N * sizeof(float));
    float* h_x = (float*)malloc(count_x * sizeof(float));
    float* h_y = (float*)malloc(count_x * sizeof(float));

    slurp("data/c.bin", h_c, N * sizeof(float));
    slurp("data/x.bin", h_x, count_x * sizeof(float));

    float *d_c, *d_x, *d_y;
    CHECK_CUDA(cudaMalloc(&d_c, N * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_x, count_x * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_y, count_x * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_c, h_c, N * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_x, h_x, count_x * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid((N + 255) / 256, (BATCH + 3) / 4);
    circulant_doubled<<<grid, 256>>>(d_c, d_x, d_y);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    CHECK_CUDA(cudaMemcpy(h_y, d_y, count_x * sizeof(float), cudaMemcpyDeviceToHost));
    dump("data/y.bin", h_y, count_x * sizeof(float));

    cudaFree(d_c);
    cudaFree(d_x);
    cudaFree(d_y);
    free(h_c);
    free(h_x);
    free(h_y);
    return 0;
}
