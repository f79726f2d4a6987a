#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int N = 45;
static const int M = 70;

__device__ float coarse_at(const float* coarse, int i, int j) {
    return i >= 0 && j >= 0 && i < N && j < M ? coarse[i * M + j] : 0.0f;
}

__global__ void prolongate(const float* fine, const float* coarse, float* out) {
    const int rows = 2 * N + 1, cols = 2 * M + 1;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    // for even indices these are the two neighbours, for odd ones twice the same point
    int i0 = (y + 1) / 2 - 1, i1 = y / 2;
    int j0 = (x + 1) / 2 - 1, j1 = x / 2;
    float sum = coarse_at(coarse, i0, j0) + coarse_at(coarse, i0, j1) +
                coarse_at(coarse, i1, j0) + coarse_at(coarse, i1, j1);
    out[y * cols + x] = fine[y * cols + x] + 0.25f * sum;
}

void compute(const float* d_fine, const float* d_coarse, float* d_corrected) {
    dim3 block(32, 8);
    dim3 grid((2 * M + 32) / 32, (2 * N + 8) / 8);
    prolongate<<<grid, block>>>(d_fine, d_coarse, d_corrected);
}

int main() {
    const int fineCount = (2 * N + 1) * (2 * M + 1);
    const int coarseCount = N * M;
    std::vector<float> h_fine(fineCount);
    std::vector<float> h_coarse(coarseCount);
    std::vector<float> h_corrected(fineCount);
    std::ifstream fine_stream("data/fine.bin", std::ios::binary);
    if (!fine_stream.read(reinterpret_cast<char*>(h_fine.data()), fineCount * sizeof(float))) {
        std::cerr << "error reading fine" << std::endl;
        return 1;
    }
    std::ifstream coarse_stream("data/coarse.bin", std::ios::binary);
    if (!coarse_stream.read(reinterpret_cast<char*>(h_coarse.data()), coarseCount * sizeof(float))) {
        std::cerr << "error reading coarse" << std::endl;
        return 1;
    }

    float* d_fine;
    float* d_coarse;
    float* d_corrected;
    cudaMalloc(&d_fine, fineCount * sizeof(float));
    cudaMalloc(&d_coarse, coarseCount * sizeof(float));
    cudaMalloc(&d_corrected, fineCount * sizeof(float));
    cudaMemcpy(d_fine, h_fine.data(), fineCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coarse, h_coarse.data(), coarseCount * sizeof(float), cudaMemcpyHostToDevice);

    compute(d_fine, d_coarse, d_corrected);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_corrected.data(), d_corrected, fineCount * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream corrected_out("data/corrected.bin", std::ios::binary);
    corrected_out.write(reinterpret_cast<const char*>(h_corrected.data()), fineCount * sizeof(float));
    cudaFree(d_fine);
    cudaFree(d_coarse);
    cudaFree(d_corrected);
    return 0;
}
