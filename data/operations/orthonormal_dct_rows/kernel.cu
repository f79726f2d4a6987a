#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kRows = 200;
constexpr int kLength = 24;
constexpr int ROWS_PER_BLOCK = 4;
constexpr int THREADS = 128;

// Four rows and the table of the 4 N different cosines are kept in shared memory.
__global__ void dct_with_table(const float* __restrict__ x, float* __restrict__ coefficients) {
    __shared__ float table[4 * kLength];
    __shared__ float rows[ROWS_PER_BLOCK * kLength];
    const int first = blockIdx.x * ROWS_PER_BLOCK * kLength;
    const int count = min(ROWS_PER_BLOCK * kLength, kRows * kLength - first);
    for (int i = threadIdx.x; i < 4 * kLength; i += THREADS)
        table[i] = sqrtf(2.0f / kLength) * cospif(i / (2.0f * kLength));
    for (int i = threadIdx.x; i < count; i += THREADS) rows[i] = x[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const int k = i % kLength;
        const float* row = rows + i - k;
        int phase = k;
        float sum = 0.0f;
        for (int n = 0; n < kLength; ++n) {
            sum += row[n] * table[phase];
            phase += 2 * k;
            if (phase >= 4 * kLength) phase -= 4 * kLength;
        }
        coefficients[first + i] = k == 0 ? sum * 0.70710678f : sum;
    }
}

void process(const float* d_x, float* d_coefficients) {
    dct_with_table<<<(kRows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, THREADS>>>(d_x, d_coefficients);
}

int main() {
    const int count = kRows * kLength;
    std::vector<float> host_x(count);
    std::vector<float> host_coefficients(count);
    std::ifstream file_x("data/x.bin", std::ios::binary);
    file_x.read((char*)host_x.data(), count * sizeof(float));
    if (!file_x) { std::cerr << "cannot read data/x.bin\n"; return 1; }

    float* d_x = nullptr;
    cudaMalloc(&d_x, count * sizeof(float));
    float* d_coefficients = nullptr;
    cudaMalloc(&d_coefficients, count * sizeof(float));
    cudaMemcpy(d_x, host_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    process(d_x, d_coefficients);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    cudaMemcpy(host_coefficients.data(), d_coefficients, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/coefficients.bin", std::ios::binary);
    out.write((char*)host_coefficients.data(), count * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_coefficients);
    return 0;
}
