#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(call) \
    do { \
        cudaError_t err = (call); \
        if (err != cudaSuccess) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

#define FACES 200
#define POINTS 68
#define SIZE (FACES * POINTS * 2)

__device__ float wing_value(float diff) {
    const float offset = 10.0f - 10.0f * 1.79175947f;
    const float d = fabsf(diff);
    return d < 10.0f ? 10.0f * log1pf(0.5f * d) : d - offset;
}

__global__ void wing_loss_warp(const float2* __restrict__ pred, const float2* __restrict__ truth,
                               const int* __restrict__ visible, float* __restrict__ loss) {
    int face = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (face >= FACES) return;
    float sum = 0.0f;
    int seen = 0;
    for (int p = lane; p < POINTS; p += 32) {
        const int k = face * POINTS + p;
        if (visible[k] != 0) {
            const float2 a = pred[k], b = truth[k];
            sum += wing_value(a.x - b.x) + wing_value(a.y - b.y);
            ++seen;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, d);
        seen += __shfl_down_sync(0xffffffffu, seen, d);
    }
    if (lane == 0) loss[face] = sum / (float)max(seen, 1);
}

int main(void) {
    float* h_pred = (float*)malloc(SIZE * sizeof(float));
    float* h_truth = (float*)malloc(SIZE * sizeof(float));
    int* h_visible = (int*)malloc(FACES * POINTS * sizeof(int));
    float* h_loss = (float*)malloc(FACES * sizeof(float));

    FILE* file = fopen("data/pred.bin", "rb");
    if (!file || fread(h_pred, sizeof(float), SIZE, file) != (size_t)SIZE) {
        fprintf(stderr, "could not load data/pred.bin\n");
        return 1;
    }
    fclose(file);

    file = fopen("data/truth.bin", "rb");
    if (!file || fread(h_truth, sizeof(float), SIZE, file) != (size_t)SIZE) {
        fprintf(stderr, "cannot read data/truth.bin\n");
        return 1;
    }
    fclose(file);

    file = fopen("data/visible.bin", "rb");
    if (!file || fread(h_visible, sizeof(int), FACES * POINTS, file) != (size_t)(FACES * POINTS)) {
        fprintf(stderr, "cannot read data/visible.bin\n");
        return 1;
    }
    fclose(file);

    float *dev_pred, *dev_truth, *dev_loss;
    int* dev_visible;
    gpuErrchk(cudaMalloc(&dev_pred, SIZE * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_truth, SIZE * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_visible, FACES * POINTS * sizeof(int)));
    gpuErrchk(cudaMalloc(&dev_loss, FACES * sizeof(float)));
    gpuErrchk(cudaMemcpy(dev_pred, h_pred, SIZE * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dev_truth, h_truth, SIZE * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dev_visible, h_visible, FACES * POINTS * sizeof(int), cudaMemcpyHostToDevice));

    wing_loss_warp<<<(FACES * 32 + 255) / 256, 256>>>((const float2*)dev_pred, (const float2*)dev_truth,
            dev_visible, dev_loss);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(h_loss, dev_loss, FACES * sizeof(float), cudaMemcpyDeviceToHost));

    file = fopen("data/loss.bin", "wb");
    if (!file) {
        fprintf(stderr, "cannot open data/loss.bin\n");
        return 1;
    }
    fwrite(h_loss, sizeof(float), FACES, file);
    fclose(file);
    cudaFree(dev_pred);
    cudaFree(dev_truth);
    cudaFree(dev_visible);
    cudaFree(dev_loss);
    free(h_pred);
    free(h_truth);
    free(h_visible);
    free(h_loss);
    return 0;
}
