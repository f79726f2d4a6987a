#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>

void load_array(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
    if (!file) {
        std::cerr << "error reading " << path << std::endl;
        exit(1);
    }
}

void save_array(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

const int ROWS = 30;
const int COLS = 500;
const int SIZE = ROWS * COLS;

__global__ void digamma(const float* x, float* psi, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        float sum = 0.0f;
        while (v < 6.0f) {
            sum -= 1.0f / v;
            v += 1.0f;
        }
        float q = 1.0f / (v * v);
        float series = q * (1.0f / 12.0f - q * (1.0f / 120.0f - q / 252.0f));
        psi[i] = sum + logf(v) - 0.5f / v - series;
    }
}

int main() {
    const size_t bytes = SIZE * sizeof(float);
    float* h_x = new float[SIZE];
    float* h_psi = new float[SIZE];
    load_array("data/x.bin", h_x, SIZE);

    float *d_x, *d_psi;
    cudaMalloc(&d_x, bytes);
    cudaMalloc(&d_psi, bytes);
    cudaMemcpy(d_x, h_x, bytes, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (SIZE + threads - 1) / threads;
    digamma<<<blocks, threads>>>(d_x, d_psi, SIZE);
    cudaDeviceSynchronize();

    cudaMemcpy(h_psi, d_psi, bytes, cudaMemcpyDeviceToHost);
    save_array("data/psi.bin", h_psi, SIZE);

    cudaFree(d_x);
    cudaFree(d_psi);
    delete[] h_x;
    delete[] h_psi;
    return 0;
}
