#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_bin(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void save_bin(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define BATCH 2
#define CHANNELS 3
#define HEIGHT 60
#define WIDTH 50
#define OUT_H ((HEIGHT + 1) / 2)
#define OUT_W ((WIDTH + 1) / 2)
#define STRIP 8
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// A thread goes down a strip of outputs of one column; the row shared by two windows is read only once.
__global__ void mixed_pool_strips(const float* __restrict__ x, const float* __restrict__ gate,
                                  float* __restrict__ y) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= OUT_W) return;
    const int plane = blockIdx.z;
    const float* p = x + (size_t)plane * HEIGHT * WIDTH;
    float* out = y + (size_t)plane * OUT_H * OUT_W;
    const float g = gate[plane % CHANNELS];
    const int c0 = max(2 * j - 1, 0), c1 = min(2 * j + 1, WIDTH - 1), across = c1 - c0 + 1;
    const int first = blockIdx.y * STRIP, last = min(first + STRIP, OUT_H);
    float top[3], sum[3];
    for (int i = first; i < last; ++i) {
        for (int k = i == first ? 0 : 1; k < 3; ++k) {
            const int r = 2 * i - 1 + k;
            top[k] = -3.402823466e38f;
            sum[k] = 0.0f;
            if (r < 0 || r >= HEIGHT) continue;
            for (int c = c0; c <= c1; ++c) {
                const float v = p[r * WIDTH + c];
                top[k] = fmaxf(top[k], v);
                sum[k] += v;
            }
        }
        const int down = min(2 * i + 1, HEIGHT - 1) - max(2 * i - 1, 0) + 1;
        const float best = fmaxf(top[0], fmaxf(top[1], top[2]));
        const float mean = (sum[0] + sum[1] + sum[2]) / (float)(across * down);
        out[i * OUT_W + j] = fmaf(g, best - mean, mean);
        top[0] = top[2];
        sum[0] = sum[2];
    }
}

int main() {
    const size_t n_x = (size_t)BATCH * CHANNELS * HEIGHT * WIDTH;
    const size_t n_y = BATCH * CHANNELS * ((HEIGHT + 1) / 2) * ((WIDTH + 1) / 2);
    const size_t bytes_x = n_x * sizeof(float);
    const size_t bytes_gate = CHANNELS * sizeof(float);
    const size_t bytes_y = n_y * sizeof(float);
    float* h_x = (float*)malloc(bytes_x);
    float* h_gate = (float*)malloc(bytes_gate);
    float* h_y = (float*)malloc(bytes_y);
    load_bin("data/x.bin", h_x, bytes_x);
    load_bin("data/gate.bin", h_gate, bytes_gate);

    float *d_x, *d_gate, *d_y;
    cudaMalloc(&d_x, bytes_x);
    cudaMalloc(&d_gate, bytes_gate);
    cudaMalloc(&d_y, bytes_y);
    cudaMemcpy(d_x, h_x, bytes_x, cudaMemcpyHostToDevice);
    cudaMemcpy(d_gate, h_gate, bytes_gate, cudaMemcpyHostToDevice);

    dim3 grid(CEIL_DIV(OUT_W, 64), CEIL_DIV(OUT_H, STRIP), BATCH * CHANNELS);
    mixed_pool_strips<<<grid, 64>>>(d_x, d_gate, d_y);

    cudaMemcpy(h_y, d_y, bytes_y, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    save_bin("data/y.bin", h_y, bytes_y);

    cudaFree(d_x);
    cudaFree(d_gate);
    cudaFree(d_y);
    free(h_x);
    free(h_gate);
    free(h_y);
    return 0;
}
