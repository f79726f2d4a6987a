#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& name, float* dst, size_t num) {
    std::ifstream in(name, std::ios::binary);
    if (!in) {
        std::cerr << "cannot open " << name << std::endl;
        std::exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), num * sizeof(float));
    if (!in) {
        std::cerr << name << " is too short" << std::endl;
        std::exit(1);
    }
}

void save_array(const std::string& name, const int* dst, size_t num) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), num * sizeof(int));
}

void save_array(const std::string& name, const unsigned int* dst, size_t num) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), num * sizeof(unsigned int));
}
//@given

constexpr int kHeight = 70;
constexpr int kWidth = 110;

__device__ unsigned int census(const float* image, int x, int y) {
    float centre = image[y * kWidth + x];
    unsigned int bits = 0;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
            if (dx == 0 && dy == 0) continue;
            int yy = min(max(y + dy, 0), kHeight - 1);
            int xx = min(max(x + dx, 0), kWidth - 1);
            bits = bits << 1 | (image[yy * kWidth + xx] < centre ? 1u : 0u);
        }
    return bits;
}

__global__ void census_cost(const float* left, const float* right, unsigned int* signature, int* cost) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    unsigned int a = census(left, x, y);
    unsigned int b = census(right, x, y);
    signature[y * kWidth + x] = a;
    cost[y * kWidth + x] = __popc(a ^ b);
}

int main() {
    const int total = kHeight * kWidth;

    float* h_left = new float[total];
    float* h_right = new float[total];
    unsigned int* h_signature = new unsigned int[total];
    int* h_cost = new int[total];
    load_array("data/left.bin", h_left, total);
    load_array("data/right.bin", h_right, total);

    float* d_left = nullptr;
    float* d_right = nullptr;
    unsigned int* d_signature = nullptr;
    int* d_cost = nullptr;
    cudaMalloc(&d_left, total * sizeof(float));
    cudaMalloc(&d_right, total * sizeof(float));
    cudaMalloc(&d_signature, total * sizeof(unsigned int));
    cudaMalloc(&d_cost, total * sizeof(int));
    cudaMemcpy(d_left, h_left, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right, total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kWidth + 31) / 32, (kHeight + 7) / 8);
    census_cost<<<grid, block>>>(d_left, d_right, d_signature, d_cost);
    cudaDeviceSynchronize();

    cudaMemcpy(h_signature, d_signature, total * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_cost, d_cost, total * sizeof(int), cudaMemcpyDeviceToHost);
    save_array("data/signature.bin", h_signature, total);
    save_array("data/cost.bin", h_cost, total);

    delete[] h_left;
    delete[] h_right;
    delete[] h_signature;
    delete[] h_cost;
    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_signature);
    cudaFree(d_cost);
    return 0;
}
