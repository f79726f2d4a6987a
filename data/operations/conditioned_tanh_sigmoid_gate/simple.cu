#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* out, size_t size) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(out), size * sizeof(float));
    if (!file) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

void save(const std::string& path, const float* in, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(in), size * sizeof(float));
}
//@given

constexpr int kBatch = 2;
constexpr int kChannels = 5;
constexpr int kTime = 900;

__global__ void gated_unit(const float* x, const float* cond, float* z) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;
    int b = blockIdx.z;
    if (t < kTime) {
        int filterRow = b * 2 * kChannels + c;
        int gateRow = filterRow + kChannels;
        float f = x[(size_t)filterRow * kTime + t] + cond[filterRow];
        float g = x[(size_t)gateRow * kTime + t] + cond[gateRow];
        z[((size_t)b * kChannels + c) * kTime + t] = tanhf(f) / (1.0f + expf(-g));
    }
}

int main() {
    const size_t n_x = kBatch * (kChannels * 2) * kTime;
    const size_t n_cond = kBatch * (kChannels * 2);
    const int z_size = kBatch * kChannels * kTime;
    float* h_x = new float[n_x];
    float* h_cond = new float[n_cond];
    float* h_z = new float[z_size];
    load("data/x.bin", h_x, n_x);
    load("data/cond.bin", h_cond, n_cond);

    float* d_x = nullptr;
    float* d_cond = nullptr;
    float* d_z = nullptr;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMemcpy(d_x, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_cond, n_cond * sizeof(float));
    cudaMemcpy(d_cond, h_cond, n_cond * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_z, z_size * sizeof(float));

    dim3 grid((kTime + 255) / 256, kChannels, kBatch);
    gated_unit<<<grid, 256>>>(d_x, d_cond, d_z);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_z, d_z, z_size * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/z.bin", h_z, z_size);

    cudaFree(d_x);
    cudaFree(d_cond);
    cudaFree(d_z);
    delete[] h_x;
    delete[] h_cond;
    delete[] h_z;
    return 0;
}
