#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bin(const std::string& path, float* dst, size_t count) {
    std::ifstream file(path, std::ios::in | std::ios::binary);
    if (!file.read((char*)dst, count * sizeof(float))) {
        std::cerr << "Failed to read " << path << "\n";
        exit(EXIT_FAILURE);
    }
}

void write_bin(const std::string& path, const float* dst, size_t count) {
    std::ofstream file(path, std::ios::out | std::ios::binary);
    if (!file.write((const char*)dst, count * sizeof(float))) {
        std::cerr << "Failed to write " << path << "\n";
        exit(EXIT_FAILURE);
    }
}
//@given

constexpr int kNy = 100;
constexpr int kNx = 150;

__device__ float face(float kc, float kn, float uc, float un) {
    return 2.0f * kn * kc / (kn + kc) * (un - uc);
}

__global__ void diffusion(const float* u, const float* k, float* out, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int i = y * nx + x;
    float sum = 0.0f;
    if (x > 0) sum += face(k[i], k[i - 1], u[i], u[i - 1]);
    if (x < nx - 1) sum += face(k[i], k[i + 1], u[i], u[i + 1]);
    if (y > 0) sum += face(k[i], k[i - nx], u[i], u[i - nx]);
    if (y < ny - 1) sum += face(k[i], k[i + nx], u[i], u[i + nx]);
    out[i] = sum;
}

int main() {
    const int elements = kNy * kNx;

    float* h_field = new float[elements];
    float* h_conductivity = new float[elements];
    float* h_flux_sum = new float[elements];
    read_bin("data/field.bin", h_field, elements);
    read_bin("data/conductivity.bin", h_conductivity, elements);

    float* d_field = nullptr;
    float* d_conductivity = nullptr;
    float* d_flux_sum = nullptr;
    cudaMalloc(&d_field, elements * sizeof(float));
    cudaMalloc(&d_conductivity, elements * sizeof(float));
    cudaMalloc(&d_flux_sum, elements * sizeof(float));
    cudaMemcpy(d_field, h_field, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_conductivity, h_conductivity, elements * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((kNx + 15) / 16, (kNy + 15) / 16);
    diffusion<<<grid, block>>>(d_field, d_conductivity, d_flux_sum, kNy, kNx);
    cudaDeviceSynchronize();

    cudaMemcpy(h_flux_sum, d_flux_sum, elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_bin("data/flux_sum.bin", h_flux_sum, elements);

    delete[] h_field;
    delete[] h_conductivity;
    delete[] h_flux_sum;
    cudaFree(d_field);
    cudaFree(d_conductivity);
    cudaFree(d_flux_sum);
    return 0;
}
