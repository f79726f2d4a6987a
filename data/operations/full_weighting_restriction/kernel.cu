#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 50;
const int M = 80;

constexpr int FINE = 2 * M + 1;

// A block makes one coarse row: first the vertical weights with contiguous reads, then the horizontal ones.
__global__ void restrict_row(const float* __restrict__ fine, float* __restrict__ coarse) {
    __shared__ float mixed[FINE];
    const float* top = fine + (size_t)(2 * blockIdx.x) * FINE;
    const float* mid = top + FINE;
    const float* low = mid + FINE;
    for (int x = threadIdx.x; x < FINE; x += blockDim.x)
        mixed[x] = 0.25f * (top[x] + low[x]) + 0.5f * mid[x];
    __syncthreads();
    for (int j = threadIdx.x; j < M; j += blockDim.x)
        coarse[(size_t)blockIdx.x * M + j] = 0.25f * (mixed[2 * j] + mixed[2 * j + 2]) + 0.5f * mixed[2 * j + 1];
}

int main() {
    const size_t fine_count = (size_t)(2 * N + 1) * (2 * M + 1);
    const size_t coarse_count = (size_t)N * M;
    std::vector<float> h_fine(fine_count);
    std::vector<float> h_coarse(coarse_count);
    std::ifstream in("data/fine.bin", std::ios::binary);
    in.read((char*)h_fine.data(), h_fine.size() * sizeof(float));
    if (!in) {
        std::cerr << "cannot read data/fine.bin\n";
        return 1;
    }

    float* d_fine;
    float* d_coarse;
    cudaMalloc(&d_fine, fine_count * sizeof(float));
    cudaMalloc(&d_coarse, coarse_count * sizeof(float));
    cudaMemcpy(d_fine, h_fine.data(), fine_count * sizeof(float), cudaMemcpyHostToDevice);

    restrict_row<<<N, 256>>>(d_fine, d_coarse);

    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_coarse.data(), d_coarse, coarse_count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/coarse.bin", std::ios::binary);
    out.write((const char*)h_coarse.data(), h_coarse.size() * sizeof(float));
    cudaFree(d_fine);
    cudaFree(d_coarse);
    return 0;
}
