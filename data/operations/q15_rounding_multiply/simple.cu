#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_file(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void store_file(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

const int ROWS = 60;
const int COLS = 200;
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

__global__ void scale_q15(const short* x, const short* gain, short* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int product = (int)x[i] * (int)gain[i / COLS];
        int rounded = (product + 16384) >> 15;
        if (rounded > 32767) rounded = 32767;
        y[i] = (short)rounded;
    }
}

int main() {
    const int n = ROWS * COLS;
    short* h_x = new short[n];
    short* h_gain = new short[ROWS];
    short* h_y = new short[n];
    load_file("data/x.bin", h_x, n * sizeof(short));
    load_file("data/gain.bin", h_gain, ROWS * sizeof(short));

    short *d_x, *d_gain, *d_y;
    cudaMalloc(&d_x, n * sizeof(short));
    cudaMemcpy(d_x, h_x, n * sizeof(short), cudaMemcpyHostToDevice);
    cudaMalloc(&d_gain, ROWS * sizeof(short));
    cudaMemcpy(d_gain, h_gain, ROWS * sizeof(short), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, n * sizeof(short));

    const int threads = 256;
    const int blocks = ceil_div(n, threads);
    scale_q15<<<blocks, threads>>>(d_x, d_gain, d_y, n);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, n * sizeof(short), cudaMemcpyDeviceToHost);
    store_file("data/y.bin", h_y, n * sizeof(short));

    cudaFree(d_x);
    cudaFree(d_gain);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_gain;
    delete[] h_y;
    return 0;
}
