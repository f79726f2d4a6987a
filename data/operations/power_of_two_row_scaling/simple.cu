#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

static const int ROWS = 100;
static const int COLS = 250;

#define BLOCK 256

__global__ void scale_rows(const float* a, float* scaled, int* exponent) {
    __shared__ float peak[BLOCK];
    __shared__ int e;
    const int t = threadIdx.x;
    const size_t start = (size_t)blockIdx.x * COLS;
    float m = 0.0f;
    for (int c = t; c < COLS; c += BLOCK) m = fmaxf(m, fabsf(a[start + c]));
    peak[t] = m;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) peak[t] = fmaxf(peak[t], peak[t + s]);
        __syncthreads();
    }
    if (t == 0) {
        int power = 0;
        if (peak[0] > 0.0f) frexpf(peak[0], &power);
        e = power;
        exponent[blockIdx.x] = power;
    }
    __syncthreads();
    for (int c = t; c < COLS; c += BLOCK) scaled[start + c] = ldexpf(a[start + c], -e);
}

int main() {
    const size_t n_a = (size_t)ROWS * COLS;
    float* a;
    float* scaled;
    int* exponent;
    cudaMallocManaged(&a, n_a * sizeof(float));
    cudaMallocManaged(&scaled, n_a * sizeof(float));
    cudaMallocManaged(&exponent, ROWS * sizeof(int));

    std::ifstream file_a("data/a.bin", std::ios::binary);
    if (!file_a.read(reinterpret_cast<char*>(a), n_a * sizeof(float))) {
        std::cerr << "cannot read data/a.bin\n";
        return 1;
    }

    scale_rows<<<ROWS, BLOCK>>>(a, scaled, exponent);
    cudaDeviceSynchronize();

    std::ofstream file_scaled("data/scaled.bin", std::ios::binary);
    file_scaled.write(reinterpret_cast<const char*>(scaled), n_a * sizeof(float));
    std::ofstream file_exponent("data/exponent.bin", std::ios::binary);
    file_exponent.write(reinterpret_cast<const char*>(exponent), ROWS * sizeof(int));

    cudaFree(a);
    cudaFree(scaled);
    cudaFree(exponent);
    return 0;
}
