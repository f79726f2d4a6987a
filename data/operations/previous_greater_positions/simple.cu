#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 60
#define COLS 300

__global__ void previous_greater(const float* x, int* before) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= COLS) return;
    const float* row = x + (size_t)r * COLS;
    float v = row[c];
    int p = c - 1;
    while (p >= 0 && row[p] <= v) --p;
    before[(size_t)r * COLS + c] = p;
}

int main() {
    const int numel = ROWS * COLS;
    std::vector<float> h_x(numel);
    std::vector<int> h_before(numel);

    std::ifstream fin("data/x.bin", std::ios::binary);
    fin.read((char*)h_x.data(), numel * sizeof(float));
    if (!fin) {
        std::cerr << "Could not read data/x.bin" << std::endl;
        return 1;
    }

    float* d_x;
    int* d_before;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_before, numel * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((COLS + 128 - 1) / 128, ROWS);
    previous_greater<<<grid, block>>>(d_x, d_before);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_before.data(), d_before, numel * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/before.bin", std::ios::binary);
    fout.write((char*)h_before.data(), numel * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_before);
    return 0;
}
