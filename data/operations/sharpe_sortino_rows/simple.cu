#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

static void load_bin(const char* filename, void* data, size_t size) {
    FILE* f = fopen(filename, "rb");
    if (!f || fread(data, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", filename);
        exit(1);
    }
    fclose(f);
}

void store_bin(const char* filename, const void* data, size_t size) {
    FILE* f = fopen(filename, "wb");
    if (!f || fwrite(data, 1, size, f) != size) {
        fprintf(stderr, "cannot write %s\n", filename);
        exit(1);
    }
    fclose(f);
}
//@given

#define FUNDS 60
#define DAYS 250
#define BLOCK 128

__device__ float block_sum(float v) {
    __shared__ float buffer[BLOCK];
    buffer[threadIdx.x] = v;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

__global__ void ratios(const float* returns, const float* risk_free, float* sharpe, float* sortino) {
    const float* row = returns + (size_t)blockIdx.x * DAYS;
    float sum = 0.0f, down = 0.0f;
    for (int t = threadIdx.x; t < DAYS; t += BLOCK) {
        float e = row[t] - risk_free[t];
        sum += e;
        if (e < 0.0f) down += e * e;
    }
    float mean = block_sum(sum) / DAYS;
    float d = sqrtf(block_sum(down) / DAYS);
    float squares = 0.0f;
    for (int t = threadIdx.x; t < DAYS; t += BLOCK) {
        float e = row[t] - risk_free[t] - mean;
        squares += e * e;
    }
    float s = sqrtf(block_sum(squares) / (DAYS - 1));
    if (threadIdx.x == 0) {
        sharpe[blockIdx.x] = sqrtf(252.0f) * mean / s;
        sortino[blockIdx.x] = sqrtf(252.0f) * mean / d;
    }
}

int main() {
    size_t count = (size_t)FUNDS * DAYS;
    float* returns = new float[count];
    float* risk_free = new float[DAYS];
    float* sharpe = new float[FUNDS];
    float* sortino = new float[FUNDS];
    load_bin("data/returns.bin", returns, count * sizeof(float));
    load_bin("data/risk_free.bin", risk_free, DAYS * sizeof(float));

    float* d_returns = nullptr;
    cudaMalloc(&d_returns, count * sizeof(float));
    cudaMemcpy(d_returns, returns, count * sizeof(float), cudaMemcpyHostToDevice);
    float* d_risk_free = nullptr;
    cudaMalloc(&d_risk_free, DAYS * sizeof(float));
    cudaMemcpy(d_risk_free, risk_free, DAYS * sizeof(float), cudaMemcpyHostToDevice);
    float* d_sharpe = nullptr;
    cudaMalloc(&d_sharpe, FUNDS * sizeof(float));
    float* d_sortino = nullptr;
    cudaMalloc(&d_sortino, FUNDS * sizeof(float));

    ratios<<<FUNDS, BLOCK>>>(d_returns, d_risk_free, d_sharpe, d_sortino);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        return 1;
    }
    cudaMemcpy(sharpe, d_sharpe, FUNDS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(sortino, d_sortino, FUNDS * sizeof(float), cudaMemcpyDeviceToHost);

    store_bin("data/sharpe.bin", sharpe, FUNDS * sizeof(float));
    store_bin("data/sortino.bin", sortino, FUNDS * sizeof(float));
    cudaFree(d_returns);
    cudaFree(d_risk_free);
    cudaFree(d_sharpe);
    cudaFree(d_sortino);
    delete[] returns;
    delete[] risk_free;
    delete[] sharpe;
    delete[] sortino;
    return 0;
}
