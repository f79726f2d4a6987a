#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t code, const char* msg) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(code));
        std::exit(1);
    }
}

static bool loadBin(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    const bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool storeBin(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

const int kRows = 120;
const int kBins = 128;
const int kCount = kRows * kBins;

__global__ void renyi(const float* p, const float* q, const float* order, float* divergence) {
    __shared__ float part[128];
    int row = blockIdx.x, t = threadIdx.x;
    float a = order[row];
    float sum = 0.0f;
    for (int k = t; k < kBins; k += 128) {
        float x = p[(size_t)row * kBins + k], y = q[(size_t)row * kBins + k];
        if (x > 0.0f) sum += a == 1.0f ? x * logf(x / y) : powf(x, a) * powf(y, 1.0f - a);
    }
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) divergence[row] = a == 1.0f ? part[0] : logf(part[0]) / (a - 1.0f);
}

int main() {
    std::vector<float> host_p(kCount), host_q(kCount), host_order(kRows), host_divergence(kRows);
    if (!loadBin("data/p.bin", host_p.data(), host_p.size() * sizeof(float)) ||
        !loadBin("data/q.bin", host_q.data(), host_q.size() * sizeof(float)) ||
        !loadBin("data/order.bin", host_order.data(), host_order.size() * sizeof(float))) {
        fprintf(stderr, "failed to read the data files\n");
        return 1;
    }

    float* dev_p = nullptr;
    float* dev_q = nullptr;
    float* dev_order = nullptr;
    float* dev_divergence = nullptr;
    checkCuda(cudaMalloc(&dev_p, kCount * sizeof(float)), "allocating p");
    checkCuda(cudaMalloc(&dev_q, kCount * sizeof(float)), "allocating q");
    checkCuda(cudaMalloc(&dev_order, kRows * sizeof(float)), "allocating order");
    checkCuda(cudaMalloc(&dev_divergence, kRows * sizeof(float)), "allocating divergence");
    checkCuda(cudaMemcpy(dev_p, host_p.data(), host_p.size() * sizeof(float), cudaMemcpyHostToDevice), "memcpy p");
    checkCuda(cudaMemcpy(dev_q, host_q.data(), host_q.size() * sizeof(float), cudaMemcpyHostToDevice), "memcpy q");
    checkCuda(cudaMemcpy(dev_order, host_order.data(), host_order.size() * sizeof(float),
            cudaMemcpyHostToDevice), "memcpy order");

    renyi<<<kRows, 128>>>(dev_p, dev_q, dev_order, dev_divergence);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaDeviceSynchronize(), "synchronize");

    checkCuda(cudaMemcpy(host_divergence.data(), dev_divergence, host_divergence.size() * sizeof(float),
            cudaMemcpyDeviceToHost), "memcpy divergence");
    if (!storeBin("data/divergence.bin", host_divergence.data(), host_divergence.size() * sizeof(float))) {
        fprintf(stderr, "cannot write data/divergence.bin\n");
        return 1;
    }
    cudaFree(dev_p);
    cudaFree(dev_q);
    cudaFree(dev_order);
    cudaFree(dev_divergence);
    return 0;
}
