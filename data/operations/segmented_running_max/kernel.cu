#include <cfloat>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(call) \
    do { \
        cudaError_t status = (call); \
        if (status != cudaSuccess) { \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            exit(1); \
        } \
    } while (0)

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define N 12000
#define BLOCK 256

// Log-step scan within the block; records whose group began in an earlier block look back over the border.
__global__ void group_running_max_block(const float* __restrict__ x, const int* __restrict__ id, float* top,
    int* seen) {
    __shared__ float value[BLOCK];
    __shared__ int key[BLOCK];
    __shared__ float before;
    __shared__ int beforeCount;
    int t = threadIdx.x;
    int first = blockIdx.x * BLOCK;
    int i = first + t;
    value[t] = i < N ? x[i] : -FLT_MAX;
    key[t] = i < N ? id[i] : INT_MAX;
    if (t == 0) {
        float best = -FLT_MAX;
        int j = first - 1;
        while (j >= 0 && id[j] == id[first]) best = fmaxf(best, x[j--]);
        before = best;
        beforeCount = first - 1 - j;
    }
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        float v = value[t];
        if (t >= s && key[t - s] == key[t]) v = fmaxf(v, value[t - s]);
        __syncthreads();
        value[t] = v;
        __syncthreads();
    }
    if (i >= N) return;
    int lo = 0, hi = t;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (key[mid] < key[t]) lo = mid + 1;
        else hi = mid;
    }
    bool continued = key[0] == key[t];
    top[i] = continued ? fmaxf(value[t], before) : value[t];
    seen[i] = t - lo + 1 + (continued ? beforeCount : 0);
}

int main() {
    float* host_x = (float*)malloc(N * sizeof(float));
    int* host_id = (int*)malloc(N * sizeof(int));
    float* host_top = (float*)malloc(N * sizeof(float));
    int* host_seen = (int*)malloc(N * sizeof(int));
    load_bin("data/x.bin", host_x, N * sizeof(float));
    load_bin("data/id.bin", host_id, N * sizeof(int));

    float *dX, *dTop;
    int *dId, *dSeen;
    gpuErrchk(cudaMalloc(&dX, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&dId, N * sizeof(int)));
    gpuErrchk(cudaMalloc(&dTop, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&dSeen, N * sizeof(int)));
    gpuErrchk(cudaMemcpy(dX, host_x, N * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dId, host_id, N * sizeof(int), cudaMemcpyHostToDevice));

    group_running_max_block<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(dX, dId, dTop, dSeen);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(host_top, dTop, N * sizeof(float), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(host_seen, dSeen, N * sizeof(int), cudaMemcpyDeviceToHost));

    save_bin("data/top.bin", host_top, N * sizeof(float));
    save_bin("data/seen.bin", host_seen, N * sizeof(int));

    cudaFree(dX);
    cudaFree(dId);
    cudaFree(dTop);
    cudaFree(dSeen);
    free(host_x);
    free(host_id);
    free(host_top);
    free(host_seen);
    return 0;
}
