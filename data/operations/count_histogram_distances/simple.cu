#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define ROWS 200
#define BINS 64
#define TOTAL (ROWS * BINS)

__global__ void histogram_distances(const int* a, const int* b, float* hellinger, float* variation) {
    __shared__ int na[256], nb[256];
    __shared__ float root[256], diff[256];
    int t = threadIdx.x;
    const int* x = a + (size_t)blockIdx.x * BINS;
    const int* y = b + (size_t)blockIdx.x * BINS;
    na[t] = nb[t] = 0;
    for (int k = t; k < BINS; k += 256) {
        na[t] += x[k];
        nb[t] += y[k];
    }
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) {
            na[t] += na[t + s];
            nb[t] += nb[t + s];
        }
        __syncthreads();
    }
    root[t] = diff[t] = 0.0f;
    for (int k = t; k < BINS; k += 256) {
        float p = (float)x[k] / na[0], q = (float)y[k] / nb[0];
        root[t] += sqrtf(p * q);
        diff[t] += fabsf(p - q);
    }
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) {
            root[t] += root[t + s];
            diff[t] += diff[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        hellinger[blockIdx.x] = sqrtf(fmaxf(0.0f, 1.0f - root[0]));
        variation[blockIdx.x] = 0.5f * diff[0];
    }
}

int main() {
    int* a = nullptr;
    int* b = nullptr;
    float* hellinger = nullptr;
    float* variation = nullptr;
    cudaMallocManaged(&a, TOTAL * sizeof(int));
    cudaMallocManaged(&b, TOTAL * sizeof(int));
    cudaMallocManaged(&hellinger, ROWS * sizeof(float));
    cudaMallocManaged(&variation, ROWS * sizeof(float));

    std::ifstream a_file("data/a.bin", std::ios::binary);
    if (!a_file.read(reinterpret_cast<char*>(a), TOTAL * sizeof(int))) {
        std::cerr << "data/a.bin: read error" << std::endl;
        return 1;
    }
    std::ifstream b_file("data/b.bin", std::ios::binary);
    if (!b_file.read(reinterpret_cast<char*>(b), TOTAL * sizeof(int))) {
        std::cerr << "data/b.bin: read error" << std::endl;
        return 1;
    }

    histogram_distances<<<ROWS, 256>>>(a, b, hellinger, variation);
    cudaDeviceSynchronize();

    std::ofstream hellinger_file("data/hellinger.bin", std::ios::binary);
    hellinger_file.write(reinterpret_cast<const char*>(hellinger), ROWS * sizeof(float));
    std::ofstream variation_file("data/variation.bin", std::ios::binary);
    variation_file.write(reinterpret_cast<const char*>(variation), ROWS * sizeof(float));

    cudaFree(a);
    cudaFree(b);
    cudaFree(hellinger);
    cudaFree(variation);
    return 0;
}
