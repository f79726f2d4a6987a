#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bin(const std::string& filename, float* dst, size_t num) {
    std::ifstream in(filename, std::ios::binary);
    if (!in) {
        std::cerr << "cannot open " << filename << std::endl;
        std::exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), num * sizeof(float));
    if (!in) {
        std::cerr << filename << " is too short" << std::endl;
        std::exit(1);
    }
}

void write_bin(const std::string& filename, const float* dst, size_t num) {
    std::ofstream out(filename, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), num * sizeof(float));
}
//@given

constexpr int kN = 45;
constexpr int kM = 70;

const int FINE_COLS = 2 * kM + 1;

// The thread (i, j) reads four coarse points once and writes the fine points (2i, 2j) to (2i + 1, 2j + 1).
__global__ void prolongate_quad(const float* __restrict__ fine, const float* __restrict__ coarse,
                                float* __restrict__ out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > kN || j > kM) return;
    float nw = i > 0 && j > 0 ? coarse[(i - 1) * kM + j - 1] : 0.0f;
    float ne = i > 0 && j < kM ? coarse[(i - 1) * kM + j] : 0.0f;
    float sw = i < kN && j > 0 ? coarse[i * kM + j - 1] : 0.0f;
    float se = i < kN && j < kM ? coarse[i * kM + j] : 0.0f;
    int k = 2 * i * FINE_COLS + 2 * j;
    out[k] = fine[k] + 0.25f * (nw + ne + sw + se);
    if (j < kM) out[k + 1] = fine[k + 1] + 0.5f * (ne + se);
    if (i < kN) {
        k += FINE_COLS;
        out[k] = fine[k] + 0.5f * (sw + se);
        if (j < kM) out[k + 1] = fine[k + 1] + se;
    }
}

int main() {
    const size_t num_fine = (2 * kN + 1) * (2 * kM + 1);
    const size_t num_coarse = (size_t)kN * kM;

    float* h_fine = new float[num_fine];
    float* h_coarse = new float[num_coarse];
    float* h_corrected = new float[num_fine];
    read_bin("data/fine.bin", h_fine, num_fine);
    read_bin("data/coarse.bin", h_coarse, num_coarse);

    float* d_fine = nullptr;
    float* d_coarse = nullptr;
    float* d_corrected = nullptr;
    cudaMalloc(&d_fine, num_fine * sizeof(float));
    cudaMalloc(&d_coarse, num_coarse * sizeof(float));
    cudaMalloc(&d_corrected, num_fine * sizeof(float));
    cudaMemcpy(d_fine, h_fine, num_fine * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coarse, h_coarse, num_coarse * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kM + 32) / 32, (kN + 8) / 8);
    prolongate_quad<<<grid, block>>>(d_fine, d_coarse, d_corrected);

    cudaMemcpy(h_corrected, d_corrected, num_fine * sizeof(float), cudaMemcpyDeviceToHost);
    write_bin("data/corrected.bin", h_corrected, num_fine);

    delete[] h_fine;
    delete[] h_coarse;
    delete[] h_corrected;
    cudaFree(d_fine);
    cudaFree(d_coarse);
    cudaFree(d_corrected);
    return 0;
}
