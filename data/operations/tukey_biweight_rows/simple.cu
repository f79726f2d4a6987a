#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static bool read_exact(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

constexpr int kRows = 50;
constexpr int kCols = 300;
constexpr int kTotal = kRows * kCols;

__global__ void biweight_rows(const float* residual, float* loss, int* outliers, int cols) {
    __shared__ float sums[256];
    __shared__ int counts[256];
    const float* row = residual + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float sum = 0.0f;
    int count = 0;
    for (int j = t; j < cols; j += 256) {
        float u = row[j] / 4.0f;
        if (fabsf(u) > 1.0f) {
            sum += 1.0f;
            count++;
        } else {
            float q = 1.0f - u * u;
            sum += 1.0f - q * q * q;
        }
    }
    sums[t] = sum;
    counts[t] = count;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) {
            sums[t] += sums[t + s];
            counts[t] += counts[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        loss[blockIdx.x] = sums[0] * (16.0f / 6.0f);
        outliers[blockIdx.x] = counts[0];
    }
}

int main() {
    float *residual, *loss;
    int* outliers;
    cudaMallocManaged(&residual, kTotal * sizeof(float));
    cudaMallocManaged(&loss, kRows * sizeof(float));
    cudaMallocManaged(&outliers, kRows * sizeof(int));

    if (!read_exact("data/residual.bin", residual, kTotal * sizeof(float))) {
        fprintf(stderr, "reading the input files failed\n");
        return 1;
    }

    biweight_rows<<<kRows, 256>>>(residual, loss, outliers, kCols);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    FILE* loss_file = fopen("data/loss.bin", "wb");
    if (!loss_file) return 1;
    fwrite(loss, sizeof(float), kRows, loss_file);
    fclose(loss_file);
    FILE* outliers_file = fopen("data/outliers.bin", "wb");
    if (!outliers_file) return 1;
    fwrite(outliers, sizeof(int), kRows, outliers_file);
    fclose(outliers_file);

    cudaFree(residual);
    cudaFree(loss);
    cudaFree(outliers);
    return 0;
}
