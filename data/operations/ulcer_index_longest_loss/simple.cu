#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int ASSETS = 100;
const int DAYS = 250;

static void checkCuda(cudaError_t status, const char* what) {
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

__global__ void ulcer_kernel(const float* prices, float* ulcer, int* longest) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= ASSETS) return;
    const float* p = prices + (size_t)a * DAYS;
    float peak = p[0];
    float sum = 0.0f;
    int run = 0, best = 0;
    for (int t = 0; t < DAYS; ++t) {
        peak = fmaxf(peak, p[t]);
        float loss = 100.0f * (peak - p[t]) / peak;
        sum += loss * loss;
        if (p[t] < peak) {
            ++run;
            if (run > best) best = run;
        } else {
            run = 0;
        }
    }
    ulcer[a] = sqrtf(sum / DAYS);
    longest[a] = best;
}

int main() {
    std::vector<float> prices(ASSETS * DAYS);
    std::vector<float> ulcer(ASSETS);
    std::vector<int> longest(ASSETS);
    if (!readFile("data/prices.bin", prices.data(), sizeof(float) * ASSETS * DAYS)) {
        fprintf(stderr, "cannot read data/prices.bin\n");
        return 1;
    }

    float *dPrices, *dUlcer;
    int *dLongest;
    checkCuda(cudaMalloc(&dPrices, sizeof(float) * ASSETS * DAYS), "allocate prices");
    checkCuda(cudaMalloc(&dUlcer, sizeof(float) * ASSETS), "malloc ulcer");
    checkCuda(cudaMalloc(&dLongest, sizeof(int) * ASSETS), "cudaMalloc");
    checkCuda(cudaMemcpy(dPrices, prices.data(), sizeof(float) * ASSETS * DAYS, cudaMemcpyHostToDevice),
              "copy prices");

    const int block = 64;
    ulcer_kernel<<<(ASSETS + block - 1) / block, block>>>(dPrices, dUlcer, dLongest);
    checkCuda(cudaGetLastError(), "kernel launch");

    checkCuda(cudaMemcpy(ulcer.data(), dUlcer, sizeof(float) * ASSETS, cudaMemcpyDeviceToHost), "copy ulcer");
    checkCuda(cudaMemcpy(longest.data(), dLongest, sizeof(int) * ASSETS, cudaMemcpyDeviceToHost), "copy longest");
    if (!writeFile("data/ulcer.bin", ulcer.data(), sizeof(float) * ASSETS)) return 1;
    if (!writeFile("data/longest.bin", longest.data(), sizeof(int) * ASSETS)) return 1;

    cudaFree(dPrices);
    cudaFree(dUlcer);
    cudaFree(dLongest);
    return 0;
}
