#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int ROWS = 45;
const int COLS = 400;

__global__ void running_mean(const float* x, const float* w, float* mean) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    size_t base = (size_t)r * COLS;
    float sum = 0.0f, weights = 0.0f;
    for (int c = 0; c < COLS; ++c) {
        sum += w[base + c] * x[base + c];
        weights += w[base + c];
        mean[base + c] = weights > 0.0f ? sum / weights : 0.0f;
    }
}

void launch_running(const float* dX, const float* dW, float* dMean) {
    running_mean<<<(ROWS + 64 - 1) / 64, 64>>>(dX, dW, dMean);
}

int main() {
    const size_t count = (size_t)ROWS * COLS;
    std::vector<float> h_x(count);
    std::vector<float> h_w(count);
    std::vector<float> h_mean(count);
    FILE* in_x = fopen("data/x.bin", "rb");
    if (!in_x || fread(h_x.data(), sizeof(float), count, in_x) != count) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_x);
    FILE* in_w = fopen("data/w.bin", "rb");
    if (!in_w || fread(h_w.data(), sizeof(float), count, in_w) != count) {
        fprintf(stderr, "cannot read data/w.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_w);

    float *dX, *dW, *dMean;
    cudaMalloc(&dX, count * sizeof(float));
    cudaMalloc(&dW, count * sizeof(float));
    cudaMalloc(&dMean, count * sizeof(float));
    cudaMemcpy(dX, h_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dW, h_w.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    launch_running(dX, dW, dMean);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "CUDA failure: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    cudaMemcpy(h_mean.data(), dMean, count * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out = fopen("data/mean.bin", "wb");
    fwrite(h_mean.data(), sizeof(float), count, out);
    fclose(out);
    cudaFree(dX);
    cudaFree(dW);
    cudaFree(dMean);
    return 0;
}
