#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int PORTFOLIOS = 100;
const int ASSETS = 40;
const int BLOCK = 128;

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool writeFile(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

__global__ void portfolio_risk(const float* weights, const float* covariance, float* volatility,
                               float* contribution) {
    __shared__ float w[ASSETS];
    __shared__ float part[ASSETS];
    __shared__ float sum[BLOCK];
    int t = threadIdx.x;
    size_t row = (size_t)blockIdx.x * ASSETS;
    for (int j = t; j < ASSETS; j += BLOCK) w[j] = weights[row + j];
    __syncthreads();
    float mine = 0.0f;
    for (int j = t; j < ASSETS; j += BLOCK) {
        float g = 0.0f;
        for (int k = 0; k < ASSETS; ++k) g += covariance[j * ASSETS + k] * w[k];
        part[j] = w[j] * g;
        mine += part[j];
    }
    sum[t] = mine;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) sum[t] += sum[t + s];
        __syncthreads();
    }
    float variance = sum[0];
    for (int j = t; j < ASSETS; j += BLOCK) contribution[row + j] = part[j] / variance;
    if (t == 0) volatility[blockIdx.x] = sqrtf(variance);
}

int main() {
    std::vector<float> weights(PORTFOLIOS * ASSETS);
    std::vector<float> covariance(ASSETS * ASSETS);
    std::vector<float> volatility(PORTFOLIOS);
    std::vector<float> contribution(PORTFOLIOS * ASSETS);
    if (!readFile("data/weights.bin", weights.data(), sizeof(float) * PORTFOLIOS * ASSETS)) {
        fprintf(stderr, "cannot read data/weights.bin\n");
        return 1;
    }
    if (!readFile("data/covariance.bin", covariance.data(), sizeof(float) * ASSETS * ASSETS)) {
        fprintf(stderr, "cannot read data/covariance.bin\n");
        return 1;
    }

    float* dev_weights = nullptr;
    float* dev_covariance = nullptr;
    float* dev_volatility = nullptr;
    float* dev_contribution = nullptr;
    check(cudaMalloc(&dev_weights, sizeof(float) * PORTFOLIOS * ASSETS), "malloc weights");
    check(cudaMalloc(&dev_covariance, sizeof(float) * ASSETS * ASSETS), "cudaMalloc");
    check(cudaMalloc(&dev_volatility, sizeof(float) * PORTFOLIOS), "cudaMalloc");
    check(cudaMalloc(&dev_contribution, sizeof(float) * PORTFOLIOS * ASSETS), "malloc contribution");
    check(cudaMemcpy(dev_weights, weights.data(), sizeof(float) * PORTFOLIOS * ASSETS, cudaMemcpyHostToDevice),
          "copy weights");
    check(cudaMemcpy(dev_covariance, covariance.data(), sizeof(float) * ASSETS * ASSETS,
          cudaMemcpyHostToDevice), "copy covariance");

    portfolio_risk<<<PORTFOLIOS, BLOCK>>>(dev_weights, dev_covariance, dev_volatility, dev_contribution);
    check(cudaGetLastError(), "launch");

    check(cudaMemcpy(volatility.data(), dev_volatility, sizeof(float) * PORTFOLIOS, cudaMemcpyDeviceToHost),
          "copy volatility");
    check(cudaMemcpy(contribution.data(), dev_contribution, sizeof(float) * PORTFOLIOS * ASSETS,
          cudaMemcpyDeviceToHost), "copy contribution");
    if (!writeFile("data/volatility.bin", volatility.data(), sizeof(float) * PORTFOLIOS)) return 1;
    if (!writeFile("data/contribution.bin", contribution.data(), sizeof(float) * PORTFOLIOS * ASSETS)) return 1;

    cudaFree(dev_weights);
    cudaFree(dev_covariance);
    cudaFree(dev_volatility);
    cudaFree(dev_contribution);
    return 0;
}
