#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int N = 1000;
constexpr int KL = 3;
constexpr int KU = 2;
constexpr int BLOCK = 128;

// The piece of x that a block needs, with its halo, is staged in shared memory; outside of x it is zero.
__global__ void band_staged(const float* __restrict__ band, const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float piece[BLOCK + KL + KU];
    const int base = blockIdx.x * BLOCK - KL;
    for (int k = threadIdx.x; k < BLOCK + KL + KU; k += BLOCK) {
        const int j = base + k;
        piece[k] = j >= 0 && j < N ? x[j] : 0.0f;
    }
    __syncthreads();
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    float sum = 0.0f;
    for (int offset = -KL; offset <= KU; ++offset) {
        const int j = i + offset;
        if (j >= 0 && j < N) sum = fmaf(band[(KU - offset) * N + j], piece[threadIdx.x + KL + offset], sum);
    }
    y[i] = sum;
}

void run(const float* d_band, const float* d_x, float* d_y) {
    band_staged<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(d_band, d_x, d_y);
}

int main() {
    std::vector<float> band((KL + KU + 1) * N);
    std::vector<float> x(N);
    std::vector<float> y(N);
    std::ifstream band_in("data/band.bin", std::ios::binary);
    if (!band_in.read(reinterpret_cast<char*>(band.data()), sizeof(float) * (KL + KU + 1) * N)) {
        std::cerr << "data/band.bin is missing or short\n";
        return 1;
    }
    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(x.data()), N * sizeof(float))) {
        std::cerr << "data/x.bin is missing or short\n";
        return 1;
    }

    float *d_band, *d_x, *d_y;
    cudaMalloc(&d_band, sizeof(float) * (KL + KU + 1) * N);
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_y, N * sizeof(float));
    cudaMemcpy(d_band, band.data(), sizeof(float) * (KL + KU + 1) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    run(d_band, d_x, d_y);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure\n";
        return 1;
    }
    cudaMemcpy(y.data(), d_y, N * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream y_out("data/y.bin", std::ios::binary);
    y_out.write(reinterpret_cast<const char*>(y.data()), N * sizeof(float));
    cudaFree(d_band);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
