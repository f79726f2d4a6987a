#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 30
#define COLS 300
#define NUMEL (ROWS * COLS)

__global__ void complex_sqrt(const float* z, float* root, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = z[2 * i];
    float y = z[2 * i + 1];
    float r = sqrtf(x * x + y * y);
    float u = 0.0f, v = 0.0f;
    if (r > 0.0f) {
        if (x >= 0.0f) {
            u = sqrtf(0.5f * (r + x));
            v = 0.5f * fabsf(y) / u;
        } else {
            v = sqrtf(0.5f * (r - x));
            u = 0.5f * fabsf(y) / v;
        }
    }
    root[2 * i] = u;
    root[2 * i + 1] = y < 0.0f ? -v : v;
}

void run(const float* d_z, float* d_root) {
    int threads = 256;
    complex_sqrt<<<(NUMEL + threads - 1) / threads, threads>>>(d_z, d_root, NUMEL);
    cudaDeviceSynchronize();
}

int main() {
    const int z_len = ROWS * COLS * 2;
    std::vector<float> z(z_len);
    std::vector<float> root(z_len);
    std::ifstream in("data/z.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(z.data()), z_len * sizeof(float))) {
        std::cerr << "cannot read data/z.bin" << std::endl;
        return 1;
    }

    float *d_z, *d_root;
    cudaMalloc(&d_z, z_len * sizeof(float));
    cudaMalloc(&d_root, z_len * sizeof(float));
    cudaMemcpy(d_z, z.data(), z_len * sizeof(float), cudaMemcpyHostToDevice);

    run(d_z, d_root);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed" << std::endl;
        return 1;
    }
    cudaMemcpy(root.data(), d_root, z_len * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out("data/root.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(root.data()), z_len * sizeof(float));
    cudaFree(d_z);
    cudaFree(d_root);
    return 0;
}
