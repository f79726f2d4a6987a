#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_OK(x) \
    do { \
        cudaError_t err = (x); \
        if (err != cudaSuccess) { \
            printf("CUDA failure: %s (%s:%d)\n", cudaGetErrorString(err), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

const int ROWS = 40;
const int COLS = 500;

__global__ void cauchy_loss(const float* pred, const float* target, const float* scale, float* loss, int rows,
        int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    float c = scale[i % cols];
    float r = (pred[i] - target[i]) / c;
    loss[i] = 0.5f * c * c * log1pf(r * r);
}

int main(void) {
    float* hPred = (float*)malloc(ROWS * COLS * sizeof(float));
    float* hTarget = (float*)malloc(ROWS * COLS * sizeof(float));
    float* hScale = (float*)malloc(COLS * sizeof(float));
    float* hLoss = (float*)malloc(ROWS * COLS * sizeof(float));

    FILE* fp = fopen("data/pred.bin", "rb");
    if (!fp || fread(hPred, sizeof(float), ROWS * COLS, fp) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "failed to read data/pred.bin\n");
        return 1;
    }
    fclose(fp);

    fp = fopen("data/target.bin", "rb");
    if (!fp || fread(hTarget, sizeof(float), ROWS * COLS, fp) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "could not load data/target.bin\n");
        return 1;
    }
    fclose(fp);

    fp = fopen("data/scale.bin", "rb");
    if (!fp || fread(hScale, sizeof(float), COLS, fp) != (size_t)COLS) {
        fprintf(stderr, "failed to read data/scale.bin\n");
        return 1;
    }
    fclose(fp);

    float *d_pred, *d_target, *d_scale, *d_loss;
    CUDA_OK(cudaMalloc(&d_pred, ROWS * COLS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_target, ROWS * COLS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_scale, COLS * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_loss, ROWS * COLS * sizeof(float)));
    CUDA_OK(cudaMemcpy(d_pred, hPred, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_target, hTarget, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(d_scale, hScale, COLS * sizeof(float), cudaMemcpyHostToDevice));

    cauchy_loss<<<(ROWS * COLS + 255) / 256, 256>>>(d_pred, d_target, d_scale, d_loss, ROWS, COLS);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(hLoss, d_loss, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost));

    fp = fopen("data/loss.bin", "wb");
    if (!fp) {
        fprintf(stderr, "cannot open data/loss.bin\n");
        return 1;
    }
    fwrite(hLoss, sizeof(float), ROWS * COLS, fp);
    fclose(fp);
    cudaFree(d_pred);
    cudaFree(d_target);
    cudaFree(d_scale);
    cudaFree(d_loss);
    free(hPred);
    free(hTarget);
    free(hScale);
    free(hLoss);
    return 0;
}
