#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load(const std::string& filename, T* buffer, size_t count) {
    std::ifstream f(filename, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(buffer), count * sizeof(T))) {
        std::cerr << "cannot read " << filename << std::endl;
        exit(1);
    }
}

template <typename T>
void save(const std::string& filename, const T* buffer, size_t count) {
    std::ofstream out(filename, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buffer), count * sizeof(T));
}
//@given

constexpr int kPlanes = 9;
constexpr int kHeight = 50;
constexpr int kWidth = 70;

__global__ void select3d(const unsigned char* mask, const float* left, const float* right, float* selected) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int h = blockIdx.y * blockDim.y + threadIdx.y;
    int p = blockIdx.z;
    if (w < kWidth && h < kHeight) {
        float v = mask[p * kWidth + w] ? left[p * kHeight + h] : right[h * kWidth + w];
        selected[(p * kHeight + h) * kWidth + w] = v;
    }
}

int main() {
    const size_t maskCount = size_t(kPlanes) * kWidth;
    const size_t leftCount = size_t(kPlanes) * kHeight;
    const size_t rightCount = size_t(kHeight) * kWidth;
    const size_t selectedCount = size_t(kPlanes) * kHeight * kWidth;
    unsigned char* h_mask = new unsigned char[maskCount];
    float* h_left = new float[leftCount];
    float* h_right = new float[rightCount];
    float* h_selected = new float[selectedCount];
    load("data/mask.bin", h_mask, maskCount);
    load("data/left.bin", h_left, leftCount);
    load("data/right.bin", h_right, rightCount);

    unsigned char* d_mask;
    float* d_left;
    float* d_right;
    float* d_selected;
    cudaMalloc(&d_mask, maskCount * sizeof(unsigned char));
    cudaMalloc(&d_left, leftCount * sizeof(float));
    cudaMalloc(&d_right, rightCount * sizeof(float));
    cudaMalloc(&d_selected, selectedCount * sizeof(float));
    cudaMemcpy(d_mask, h_mask, maskCount * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_left, h_left, leftCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right, rightCount * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kWidth + 31) / 32, (kHeight + 7) / 8, kPlanes);
    select3d<<<grid, block>>>(d_mask, d_left, d_right, d_selected);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(rc) << '\n';
        return 1;
    }
    cudaMemcpy(h_selected, d_selected, selectedCount * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/selected.bin", h_selected, selectedCount);

    cudaFree(d_mask);
    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_selected);
    delete[] h_mask;
    delete[] h_left;
    delete[] h_right;
    delete[] h_selected;
    return 0;
}
