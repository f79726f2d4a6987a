#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CUDA_OK(x)                                                                             \
    do {                                                                                       \
        cudaError_t rc_ = (x);                                                                 \
        if (rc_ != cudaSuccess) {                                                              \
            printf("CUDA failure: %s (%s:%d)\n", cudaGetErrorString(rc_), __FILE__, __LINE__); \
            exit(1);                                                                           \
        }                                                                                      \
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
        fprintf(stderr, "%s: write failed\n", path);
        exit(1);
    }
    fclose(f);
}

#define PROBLEMS 100
#define DIM 120
#define COUNT (PROBLEMS * DIM)

__global__ void barzilai_borwein(const float* __restrict__ x, const float* __restrict__ x_prev,
                                 const float* __restrict__ grad, const float* __restrict__ grad_prev,
                                 float* __restrict__ x_out, float* __restrict__ alpha) {
    __shared__ float part[2][4];
    const size_t base = (size_t)blockIdx.x * DIM;
    float a = 0.0f, b = 0.0f;
    for (int k = threadIdx.x; k < DIM; k += 128) {
        const float y = grad[base + k] - grad_prev[base + k];
        a = fmaf(x[base + k] - x_prev[base + k], y, a);
        b = fmaf(y, y, b);
    }
    for (int d = 16; d > 0; d >>= 1) {
        a += __shfl_down_sync(0xffffffffu, a, d);
        b += __shfl_down_sync(0xffffffffu, b, d);
    }
    if (threadIdx.x % 32 == 0) {
        part[0][threadIdx.x / 32] = a;
        part[1][threadIdx.x / 32] = b;
    }
    __syncthreads();
    a = part[0][0] + part[0][1] + part[0][2] + part[0][3];
    b = part[1][0] + part[1][1] + part[1][2] + part[1][3];
    float length = 0.01f;
    if (a > 1e-6f) length = fminf(2.0f, fmaxf(0.001f, a / b));
    for (int k = threadIdx.x; k < DIM; k += 128) x_out[base + k] = fmaf(-length, grad[base + k], x[base + k]);
    if (threadIdx.x == 0) alpha[blockIdx.x] = length;
}

int main(void) {
    float* hX = (float*)malloc(COUNT * sizeof(float));
    float* h_x_prev = (float*)malloc(COUNT * sizeof(float));
    float* hGrad = (float*)malloc(COUNT * sizeof(float));
    float* h_grad_prev = (float*)malloc(COUNT * sizeof(float));
    float* h_x_out = (float*)malloc(COUNT * sizeof(float));
    float* hAlpha = (float*)malloc(PROBLEMS * sizeof(float));
    load_bin("data/x.bin", hX, COUNT * sizeof(float));
    load_bin("data/x_prev.bin", h_x_prev, COUNT * sizeof(float));
    load_bin("data/grad.bin", hGrad, COUNT * sizeof(float));
    load_bin("data/grad_prev.bin", h_grad_prev, COUNT * sizeof(float));

    float *d_x, *d_x_prev, *d_grad, *d_grad_prev, *d_x_out, *d_alpha;
    CUDA_OK(cudaMalloc(&d_x, COUNT * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_x_prev, COUNT * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_grad, COUNT * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_grad_prev, COUNT * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_x_out, COUNT * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_alpha, PROBLEMS * sizeof(float)));
    CUDA_OK(cudaMemcpy(d_x, hX, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_x_prev, h_x_prev, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_grad, hGrad, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_grad_prev, h_grad_prev, COUNT * sizeof(float), cudaMemcpyHostToDevice));

    barzilai_borwein<<<PROBLEMS, 128>>>(d_x, d_x_prev, d_grad, d_grad_prev, d_x_out, d_alpha);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(h_x_out, d_x_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(hAlpha, d_alpha, PROBLEMS * sizeof(float), cudaMemcpyDeviceToHost));

    save_bin("data/x_out.bin", h_x_out, COUNT * sizeof(float));
    save_bin("data/alpha.bin", hAlpha, PROBLEMS * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_x_prev);
    cudaFree(d_grad);
    cudaFree(d_grad_prev);
    cudaFree(d_x_out);
    cudaFree(d_alpha);
    free(hX);
    free(h_x_prev);
    free(hGrad);
    free(h_grad_prev);
    free(h_x_out);
    free(hAlpha);
    return 0;
}
