#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readArray(const std::string& file_name, void* dst, size_t bytes) {
    std::ifstream in(file_name, std::ios::binary);
    if (!in) {
        std::cerr << "cannot open " << file_name << std::endl;
        std::exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), bytes);
    if (!in) {
        std::cerr << file_name << " is too short" << std::endl;
        std::exit(1);
    }
}

void writeArray(const std::string& file_name, const void* dst, size_t bytes) {
    std::ofstream out(file_name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), bytes);
}
//@given

const int kN = 50;
const int kM = 80;
#define CEIL_DIV(total, per_block) (((total) + (per_block) - 1) / (per_block))

__global__ void restrict_grid(const float* fine, float* coarse) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= kN || j >= kM) return;
    const int stride = 2 * kM + 1;
    const float* f = fine + (2 * i + 1) * stride + 2 * j + 1;
    float edges = f[-1] + f[1] + f[-stride] + f[stride];
    float corners = f[-stride - 1] + f[-stride + 1] + f[stride - 1] + f[stride + 1];
    coarse[i * kM + j] = 0.25f * f[0] + 0.125f * edges + 0.0625f * corners;
}

int main() {
    size_t num_fine = (2 * kN + 1) * (2 * kM + 1);
    size_t num_coarse = (size_t)kN * kM;

    float* h_fine = new float[num_fine];
    float* h_coarse = new float[num_coarse];
    readArray("data/fine.bin", h_fine, num_fine * sizeof(float));

    float *d_fine;
    float *d_coarse;
    cudaMalloc(&d_fine, num_fine * sizeof(float));
    cudaMalloc(&d_coarse, num_coarse * sizeof(float));
    cudaMemcpy(d_fine, h_fine, num_fine * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid(CEIL_DIV(kM, 32), CEIL_DIV(kN, 8));
    restrict_grid<<<grid, block>>>(d_fine, d_coarse);
    cudaDeviceSynchronize();

    cudaMemcpy(h_coarse, d_coarse, num_coarse * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/coarse.bin", h_coarse, num_coarse * sizeof(float));

    cudaFree(d_fine);
    cudaFree(d_coarse);
    delete[] h_fine;
    delete[] h_coarse;
    return 0;
}
