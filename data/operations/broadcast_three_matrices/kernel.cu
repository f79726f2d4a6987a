#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADS 3
#define ROWS 60
#define COLS 90

#define CHECK_CUDA(call)                                                                    \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

static void slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "incomplete file %s\n", path);
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

// A thread keeps q[r, c] and runs over all heads; s of the block's row is in shared memory.
__global__ void broadcast_heads(const float* __restrict__ p, const float* __restrict__ q,
                                const float* __restrict__ s, float* __restrict__ y) {
    __shared__ float offset[HEADS];
    const int r = blockIdx.y;
    for (int h = threadIdx.x; h < HEADS; h += blockDim.x) offset[h] = s[h * ROWS + r];
    __syncthreads();
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    const float b = q[r * COLS + c];
    float* out = y + (size_t)r * COLS + c;
    for (int h = 0; h < HEADS; ++h) {
        const float a = p[h * COLS + c];
        const float product = fmaxf(a, b) < 0.0f ? -1.0f : a * b;
        out[(size_t)h * ROWS * COLS] = product + offset[h];
    }
}

int main(void) {
    const size_t p_count = HEADS * COLS;
    const size_t q_count = ROWS * COLS;
    const size_t s_count = HEADS * ROWS;
    const size_t y_size = HEADS * ROWS * COLS;
    float* p = (float*)malloc(p_count * sizeof(float));
    float* q = (float*)malloc(q_count * sizeof(float));
    float* s = (float*)malloc(s_count * sizeof(float));
    float* y = (float*)malloc(y_size * sizeof(float));
    slurp("data/p.bin", p, p_count * sizeof(float));
    slurp("data/q.bin", q, q_count * sizeof(float));
    slurp("data/s.bin", s, s_count * sizeof(float));

    float *d_p, *d_q, *d_s, *d_y;
    CHECK_CUDA(cudaMalloc(&d_p, p_count * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_q, q_count * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_s, s_count * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&d_y, y_size * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(d_p, p, p_count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_q, q, q_count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_s, s, s_count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid((COLS + 128 - 1) / 128, ROWS);
    broadcast_heads<<<grid, 128>>>(d_p, d_q, d_s, d_y);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(y, d_y, y_size * sizeof(float), cudaMemcpyDeviceToHost));

    dump("data/y.bin", y, y_size * sizeof(float));

    cudaFree(d_p);
    cudaFree(d_q);
    cudaFree(d_s);
    cudaFree(d_y);
    free(p);
    free(q);
    free(s);
    free(y);
    return 0;
}
