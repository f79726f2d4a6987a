#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int kFilters = 48;
const int kFanIn = 147;

#define CHECK(call) \
    do { \
        cudaError_t status = (call); \
        if (status != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(status), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

__global__ void standardize(const float* weight, const float* gain, float* out) {
    __shared__ float part[256];
    int f = blockIdx.x, t = threadIdx.x;
    const float* w = weight + (size_t)f * kFanIn;
    float sum = 0.0f;
    for (int i = t; i < kFanIn; i += 256) sum += w[i];
    part[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    float mean = part[0] / kFanIn;
    __syncthreads();
    float sq = 0.0f;
    for (int i = t; i < kFanIn; i += 256) sq += (w[i] - mean) * (w[i] - mean);
    part[t] = sq;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    // part[0] is the variance times the fan-in already
    float scale = gain[f] / sqrtf(part[0] + 1e-4f);
    for (int i = t; i < kFanIn; i += 256) out[(size_t)f * kFanIn + i] = (w[i] - mean) * scale;
}

int main() {
    const size_t num_weight = kFilters * kFanIn;
    float* host_weight = (float*)malloc(num_weight * sizeof(float));
    float* host_gain = (float*)malloc(kFilters * sizeof(float));
    float* host_standardized = (float*)malloc(num_weight * sizeof(float));

    FILE* fp;
    fp = fopen("data/weight.bin", "rb");
    if (!fp || fread(host_weight, sizeof(float), num_weight, fp) != num_weight) {
        fprintf(stderr, "cannot read data/weight.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/gain.bin", "rb");
    if (!fp || fread(host_gain, sizeof(float), kFilters, fp) != kFilters) {
        fprintf(stderr, "cannot read data/gain.bin\n");
        return 1;
    }
    fclose(fp);

    float* dev_weight;
    float* dev_gain;
    float* dev_standardized;
    CHECK(cudaMalloc(&dev_weight, num_weight * sizeof(float)));
    CHECK(cudaMalloc(&dev_gain, kFilters * sizeof(float)));
    CHECK(cudaMalloc(&dev_standardized, num_weight * sizeof(float)));
    CHECK(cudaMemcpy(dev_weight, host_weight, num_weight * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_gain, host_gain, kFilters * sizeof(float), cudaMemcpyHostToDevice));

    standardize<<<kFilters, 256>>>(dev_weight, dev_gain, dev_standardized);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpy(host_standardized, dev_standardized, num_weight * sizeof(float), cudaMemcpyDeviceToHost));
    fp = fopen("data/standardized.bin", "wb");
    if (!fp || fwrite(host_standardized, sizeof(float), num_weight, fp) != num_weight) {
        fprintf(stderr, "cannot write data/standardized.bin\n");
        return 1;
    }
    fclose(fp);

    cudaFree(dev_weight);
    cudaFree(dev_gain);
    cudaFree(dev_standardized);
    free(host_weight);
    free(host_gain);
    free(host_standardized);
    return 0;
}
