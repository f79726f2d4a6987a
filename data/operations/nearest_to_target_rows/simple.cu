#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(call) \
    do { \
        cudaError_t rc_ = (call); \
        if (rc_ != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(rc_), __FILE__, __LINE__); \
            exit(EXIT_FAILURE); \
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

#define ROWS 60
#define COLS 500
#define BLOCK 128

__global__ void nearest(const float* x, const float* target, int* index, float* gap) {
    __shared__ float dist[BLOCK];
    __shared__ int col[BLOCK];
    int r = blockIdx.x;
    int t = threadIdx.x;
    float goal = target[r];
    float best = FLT_MAX;
    int at = COLS;
    for (int c = t; c < COLS; c += BLOCK) {
        float d = fabsf(x[(size_t)r * COLS + c] - goal);
        if (d < best) {
            best = d;
            at = c;
        }
    }
    dist[t] = best;
    col[t] = at;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s && (dist[t + s] < dist[t] || (dist[t + s] == dist[t] && col[t + s] < col[t]))) {
            dist[t] = dist[t + s];
            col[t] = col[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        index[r] = col[0];
        gap[r] = dist[0];
    }
}

int main() {
    float* host_x = (float*)malloc(ROWS * COLS * sizeof(float));
    float* host_target = (float*)malloc(ROWS * sizeof(float));
    int* host_index = (int*)malloc(ROWS * sizeof(int));
    float* host_gap = (float*)malloc(ROWS * sizeof(float));
    load_bin("data/x.bin", host_x, ROWS * COLS * sizeof(float));
    load_bin("data/target.bin", host_target, ROWS * sizeof(float));

    float *d_x, *d_target, *d_gap;
    int* d_index;
    gpuErrchk(cudaMalloc(&d_x, ROWS * COLS * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_target, ROWS * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_index, ROWS * sizeof(int)));
    gpuErrchk(cudaMalloc(&d_gap, ROWS * sizeof(float)));
    gpuErrchk(cudaMemcpy(d_x, host_x, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_target, host_target, ROWS * sizeof(float), cudaMemcpyHostToDevice));

    nearest<<<ROWS, BLOCK>>>(d_x, d_target, d_index, d_gap);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(host_index, d_index, ROWS * sizeof(int), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(host_gap, d_gap, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

    save_bin("data/index.bin", host_index, ROWS * sizeof(int));
    save_bin("data/gap.bin", host_gap, ROWS * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_target);
    cudaFree(d_index);
    cudaFree(d_gap);
    free(host_x);
    free(host_target);
    free(host_index);
    free(host_gap);
    return 0;
}
