#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CUDA_OK(expr) { cudaError_t status = (expr); if (status != cudaSuccess) { \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); exit(EXIT_FAILURE); } }

static void fetch(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

static void put(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

const int ROWS = 90;
const int COLS = 110;
const int NUM_ELEMENTS = ROWS * COLS;

__global__ void sm3_rows(const float* weight, const float* grad, const float* row_acc, const float* col_acc,
                         float* weight_out, float* row_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS) return;
    float top = 0.0f;
    for (int j = 0; j < COLS; j++) {
        int k = i * COLS + j;
        float nu = fminf(row_acc[i], col_acc[j]) + grad[k] * grad[k];
        weight_out[k] = nu > 0.0f ? weight[k] - 0.1f * grad[k] / sqrtf(nu) : weight[k];
        top = fmaxf(top, nu);
    }
    row_out[i] = top;
}

__global__ void sm3_col_max(const float* grad, const float* row_acc, const float* col_acc, float* col_out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= COLS) return;
    float top = 0.0f;
    for (int i = 0; i < ROWS; i++) {
        float g = grad[(size_t)i * COLS + j];
        top = fmaxf(top, fminf(row_acc[i], col_acc[j]) + g * g);
    }
    col_out[j] = top;
}

int main() {
    float* h_weight = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_grad = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_row_acc = (float*)malloc(ROWS * sizeof(float));
    float* h_col_acc = (float*)malloc(COLS * sizeof(float));
    float* h_weight_out = (float*)malloc(NUM_ELEMENTS * sizeof(float));
    float* h_row_out = (float*)malloc(ROWS * sizeof(float));
    float* h_col_out = (float*)malloc(COLS * sizeof(float));
    fetch("data/weight.bin", h_weight, NUM_ELEMENTS * sizeof(float));
    fetch("data/grad.bin", h_grad, NUM_ELEMENTS * sizeof(float));
    fetch("data/row_acc.bin", h_row_acc, ROWS * sizeof(float));
    fetch("data/col_acc.bin", h_col_acc, COLS * sizeof(float));

    float* dev_weight;
    float* dev_grad;
    float* dev_row_acc;
    float* dev_col_acc;
    float* dev_weight_out;
    float* dev_row_out;
    float* dev_col_out;
    CUDA_OK(cudaMalloc(&dev_weight, NUM_ELEMENTS * sizeof(float)));
    CUDA_OK(cudaMalloc(&dev_grad, NUM_ELEMENTS * sizeof(float)));
    CUDA_OK(cudaMalloc(&dev_row_acc, ROWS * sizeof(float)));
    CUDA_OK(cudaMalloc(&dev_col_acc, COLS * sizeof(float)));
    CUDA_OK(cudaMalloc(&dev_weight_out, NUM_ELEMENTS * sizeof(float)));
    CUDA_OK(cudaMalloc(&dev_row_out, ROWS * sizeof(float)));
    CUDA_OK(cudaMalloc(&dev_col_out, COLS * sizeof(float)));
    CUDA_OK(cudaMemcpy(dev_weight, h_weight, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dev_grad, h_grad, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dev_row_acc, h_row_acc, ROWS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dev_col_acc, h_col_acc, COLS * sizeof(float), cudaMemcpyHostToDevice));

    sm3_rows<<<(ROWS + 127) / 128, 128>>>(dev_weight, dev_grad, dev_row_acc, dev_col_acc, dev_weight_out,
            dev_row_out);
    sm3_col_max<<<(COLS + 127) / 128, 128>>>(dev_grad, dev_row_acc, dev_col_acc, dev_col_out);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(h_weight_out, dev_weight_out, NUM_ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(h_row_out, dev_row_out, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(h_col_out, dev_col_out, COLS * sizeof(float), cudaMemcpyDeviceToHost));

    put("data/weight_out.bin", h_weight_out, NUM_ELEMENTS * sizeof(float));
    put("data/row_out.bin", h_row_out, ROWS * sizeof(float));
    put("data/col_out.bin", h_col_out, COLS * sizeof(float));
    cudaFree(dev_weight);
    cudaFree(dev_grad);
    cudaFree(dev_row_acc);
    cudaFree(dev_col_acc);
    cudaFree(dev_weight_out);
    cudaFree(dev_row_out);
    cudaFree(dev_col_out);
    free(h_weight);
    free(h_grad);
    free(h_row_acc);
    free(h_col_acc);
    free(h_weight_out);
    free(h_row_out);
    free(h_col_out);
    return 0;
}
