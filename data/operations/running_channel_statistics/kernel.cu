#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define SAMPLES 300
#define CHANNELS 70

#define CHECK(call) \
    do { \
        cudaError_t err = (call); \
        if (err != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(err), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

constexpr int kSlices = 32;

// Every block scans a slice of the samples for 128 channels and writes (mean, squared deviations).
__global__ void slice_moments(const float* __restrict__ x, float* means, float* devs) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= CHANNELS) return;
    float mean = 0.0f, dev = 0.0f;
    int n = 0;
    for (int s = blockIdx.y; s < SAMPLES; s += kSlices) {
        float v = x[(size_t)s * CHANNELS + c];
        ++n;
        float d = v - mean;
        mean += d / n;
        dev += d * (v - mean);
    }
    means[blockIdx.y * CHANNELS + c] = mean;
    devs[blockIdx.y * CHANNELS + c] = dev;
}

__global__ void merge_and_blend(const float* means, const float* devs, const float* running_mean,
                                const float* running_var, float* new_mean, float* new_var) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= CHANNELS) return;
    float mean = 0.0f, dev = 0.0f, n = 0.0f;
    for (int k = 0; k < kSlices; ++k) {
        float nk = (float)((SAMPLES - k + kSlices - 1) / kSlices);
        float d = means[k * CHANNELS + c] - mean;
        mean += d * nk / (n + nk);
        dev += devs[k * CHANNELS + c] + d * d * n * nk / (n + nk);
        n += nk;
    }
    new_mean[c] = 0.9f * running_mean[c] + 0.1f * mean;
    new_var[c] = 0.9f * running_var[c] + 0.1f * dev / (SAMPLES - 1);
}

int main() {
    const size_t x_elems = (size_t)SAMPLES * CHANNELS;
    float* h_x = (float*)malloc(x_elems * sizeof(float));
    float* h_running_mean = (float*)malloc(CHANNELS * sizeof(float));
    float* h_running_var = (float*)malloc(CHANNELS * sizeof(float));
    float* h_new_mean = (float*)malloc(CHANNELS * sizeof(float));
    float* h_new_var = (float*)malloc(CHANNELS * sizeof(float));

    FILE* fp;
    fp = fopen("data/x.bin", "rb");
    if (!fp || fread(h_x, sizeof(float), x_elems, fp) != x_elems) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/running_mean.bin", "rb");
    if (!fp || fread(h_running_mean, sizeof(float), CHANNELS, fp) != CHANNELS) {
        fprintf(stderr, "cannot read data/running_mean.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/running_var.bin", "rb");
    if (!fp || fread(h_running_var, sizeof(float), CHANNELS, fp) != CHANNELS) {
        fprintf(stderr, "cannot read data/running_var.bin\n");
        return 1;
    }
    fclose(fp);

    float* d_x;
    float* d_running_mean;
    float* d_running_var;
    float* d_new_mean;
    float* d_new_var;
    float* d_means;
    float* d_devs;
    CHECK(cudaMalloc(&d_x, x_elems * sizeof(float)));
    CHECK(cudaMalloc(&d_running_mean, CHANNELS * sizeof(float)));
    CHECK(cudaMalloc(&d_running_var, CHANNELS * sizeof(float)));
    CHECK(cudaMalloc(&d_new_mean, CHANNELS * sizeof(float)));
    CHECK(cudaMalloc(&d_new_var, CHANNELS * sizeof(float)));
    CHECK(cudaMalloc(&d_means, kSlices * CHANNELS * sizeof(float)));
    CHECK(cudaMalloc(&d_devs, kSlices * CHANNELS * sizeof(float)));
    CHECK(cudaMemcpy(d_x, h_x, x_elems * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_running_mean, h_running_mean, CHANNELS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_running_var, h_running_var, CHANNELS * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid((CHANNELS + 128 - 1) / 128, kSlices);
    slice_moments<<<grid, 128>>>(d_x, d_means, d_devs);
    merge_and_blend<<<(CHANNELS + 128 - 1) / 128, 128>>>(d_means, d_devs, d_running_mean, d_running_var,
        d_new_mean, d_new_var);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(h_new_mean, d_new_mean, CHANNELS * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_new_var, d_new_var, CHANNELS * sizeof(float), cudaMemcpyDeviceToHost));
    fp = fopen("data/new_mean.bin", "wb");
    if (!fp || fwrite(h_new_mean, sizeof(float), CHANNELS, fp) != CHANNELS) {
        fprintf(stderr, "cannot write data/new_mean.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/new_var.bin", "wb");
    if (!fp || fwrite(h_new_var, sizeof(float), CHANNELS, fp) != CHANNELS) {
        fprintf(stderr, "cannot write data/new_var.bin\n");
        return 1;
    }
    fclose(fp);

    cudaFree(d_x);
    cudaFree(d_running_mean);
    cudaFree(d_running_var);
    cudaFree(d_new_mean);
    cudaFree(d_new_var);
    cudaFree(d_means);
    cudaFree(d_devs);
    free(h_x);
    free(h_running_mean);
    free(h_running_var);
    free(h_new_mean);
    free(h_new_var);
    return 0;
}
