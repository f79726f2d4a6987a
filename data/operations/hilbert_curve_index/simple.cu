#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 5000;
const int ORDER = 6;

__global__ void hilbert_index(const int* xs, const int* ys, uint32_t* index) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int x = xs[i], y = ys[i];
    uint32_t d = 0;
    for (int s = 1 << (ORDER - 1); s > 0; s >>= 1) {
        int rx = (x & s) ? 1 : 0;
        int ry = (y & s) ? 1 : 0;
        d += (uint32_t)s * s * ((3 * rx) ^ ry);
        if (ry == 0) {
            if (rx == 1) {
                x = s - 1 - (x & (s - 1));
                y = s - 1 - (y & (s - 1));
            }
            int keep = x;
            x = y;
            y = keep;
        }
    }
    index[i] = d;
}

int main() {
    std::vector<int> h_xs(N);
    std::vector<int> h_ys(N);
    std::vector<uint32_t> h_index(N);

    std::ifstream in_xs("data/xs.bin", std::ios::binary);
    in_xs.read(reinterpret_cast<char*>(h_xs.data()), N * sizeof(int));
    if (!in_xs) {
        std::cerr << "could not read data/xs.bin" << std::endl;
        return 1;
    }
    std::ifstream in_ys("data/ys.bin", std::ios::binary);
    in_ys.read(reinterpret_cast<char*>(h_ys.data()), N * sizeof(int));
    if (!in_ys) {
        std::cerr << "could not read data/ys.bin" << std::endl;
        return 1;
    }

    int *d_xs = nullptr, *d_ys = nullptr;
    uint32_t *d_index = nullptr;
    cudaMalloc(&d_xs, N * sizeof(int));
    cudaMalloc(&d_ys, N * sizeof(int));
    cudaMalloc(&d_index, N * sizeof(uint32_t));
    cudaMemcpy(d_xs, h_xs.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_ys, h_ys.data(), N * sizeof(int), cudaMemcpyHostToDevice);

    int block = 256;
    hilbert_index<<<(N + block - 1) / block, block>>>(d_xs, d_ys, d_index);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_index.data(), d_index, N * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    std::ofstream fout("data/index.bin", std::ios::binary);
    fout.write(reinterpret_cast<char*>(h_index.data()), N * sizeof(uint32_t));

    cudaFree(d_xs);
    cudaFree(d_ys);
    cudaFree(d_index);
    return 0;
}
