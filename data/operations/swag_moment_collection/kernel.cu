#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N 14000

#define TRY_CUDA(expr)                                                         \
    do {                                                                       \
        cudaError_t e = (expr);                                                \
        if (e != cudaSuccess) {                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(EXIT_FAILURE);                                                \
        }                                                                      \
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

// Written as running means: x += (new - x) / (k + 1).
__device__ void collect(float w, float& m, float& s, float& dev, float share) {
    m += (w - m) * share;
    s += (w * w - s) * share;
    dev = sqrtf(fmaxf(fmaf(-m, m, s), 1e-6f));
}

__global__ void swag_collect4(const float4* __restrict__ theta, const float4* __restrict__ mean,
                              const float4* __restrict__ square, const int* __restrict__ models,
                              float4* __restrict__ mean_out, float4* __restrict__ square_out,
                              float4* __restrict__ deviation) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float share = 1.0f / (models[0] + 1);
    if (i < N / 4) {
        const float4 w = theta[i];
        float4 m = mean[i], s = square[i], d;
        collect(w.x, m.x, s.x, d.x, share);
        collect(w.y, m.y, s.y, d.y, share);
        collect(w.z, m.z, s.z, d.z, share);
        collect(w.w, m.w, s.w, d.w, share);
        mean_out[i] = m;
        square_out[i] = s;
        deviation[i] = d;
    } else if (i < N / 4 + N % 4) {
        const int k = N / 4 * 4 + (i - N / 4);
        float m = ((const float*)mean)[k], s = ((const float*)square)[k], d;
        collect(((const float*)theta)[k], m, s, d, share);
        ((float*)mean_out)[k] = m;
        ((float*)square_out)[k] = s;
        ((float*)deviation)[k] = d;
    }
}

int main() {
    float* hTheta = (float*)malloc(N * sizeof(float));
    float* hMean = (float*)malloc(N * sizeof(float));
    float* hSquare = (float*)malloc(N * sizeof(float));
    int* hModels = (int*)malloc(sizeof(int));
    float* h_mean_out = (float*)malloc(N * sizeof(float));
    float* h_square_out = (float*)malloc(N * sizeof(float));
    float* hDeviation = (float*)malloc(N * sizeof(float));
    load_bin("data/theta.bin", hTheta, N * sizeof(float));
    load_bin("data/mean.bin", hMean, N * sizeof(float));
    load_bin("data/square.bin", hSquare, N * sizeof(float));
    load_bin("data/models.bin", hModels, sizeof(int));

    float *d_theta, *d_mean, *d_square, *d_mean_out, *d_square_out, *d_deviation;
    int* d_models;
    TRY_CUDA(cudaMalloc(&d_theta, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_mean, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_square, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_models, sizeof(int)));
    TRY_CUDA(cudaMalloc(&d_mean_out, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_square_out, N * sizeof(float)));
    TRY_CUDA(cudaMalloc(&d_deviation, N * sizeof(float)));
    TRY_CUDA(cudaMemcpy(d_theta, hTheta, N * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(d_mean, hMean, N * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(d_square, hSquare, N * sizeof(float), cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy(d_models, hModels, sizeof(int), cudaMemcpyHostToDevice));

    swag_collect4<<<(N / 4 + N % 4 + 255) / 256, 256>>>((const float4*)d_theta, (const float4*)d_mean,
            (const float4*)d_square,
                                                      d_models, (float4*)d_mean_out, (float4*)d_square_out,
                                                      (float4*)d_deviation);
    TRY_CUDA(cudaGetLastError());
    TRY_CUDA(cudaMemcpy(h_mean_out, d_mean_out, N * sizeof(float), cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemcpy(h_square_out, d_square_out, N * sizeof(float), cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemcpy(hDeviation, d_deviation, N * sizeof(float), cudaMemcpyDeviceToHost));

    save_bin("data/mean_out.bin", h_mean_out, N * sizeof(float));
    save_bin("data/square_out.bin", h_square_out, N * sizeof(float));
    save_bin("data/deviation.bin", hDeviation, N * sizeof(float));
    cudaFree(d_theta);
    cudaFree(d_mean);
    cudaFree(d_square);
    cudaFree(d_models);
    cudaFree(d_mean_out);
    cudaFree(d_square_out);
    cudaFree(d_deviation);
    free(hTheta);
    free(hMean);
    free(hSquare);
    free(hModels);
    free(h_mean_out);
    free(h_square_out);
    free(hDeviation);
    return 0;
}
