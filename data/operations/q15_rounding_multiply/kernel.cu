#include <fstream>
#include <iostream>
#include <vector>
#include <cstdint>
#include <cuda_runtime.h>

const int ROWS = 60;
const int COLS = 200;

// Rows have an even number of samples: two of them are read and written as one short2.
__global__ void scale_q15_pairs(const short2* __restrict__ x, const int16_t* __restrict__ gain,
        short2* __restrict__ y) {
    const int pairs = COLS / 2;
    const int g = gain[blockIdx.x];
    const size_t base = (size_t)blockIdx.x * pairs;
    for (int c = threadIdx.x; c < pairs; c += blockDim.x) {
        const short2 v = x[base + c];
        const int a = min((v.x * g + 16384) >> 15, 32767);
        const int b = min((v.y * g + 16384) >> 15, 32767);
        y[base + c] = make_short2(a, b);
    }
}

int main() {
    const int total = ROWS * COLS;
    std::vector<int16_t> h_x(total);
    std::vector<int16_t> h_gain(ROWS);
    std::vector<int16_t> h_y(total);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    in_x.read(reinterpret_cast<char*>(h_x.data()), total * sizeof(int16_t));
    if (!in_x) {
        std::cerr << "missing or incomplete file data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream in_gain("data/gain.bin", std::ios::binary);
    in_gain.read(reinterpret_cast<char*>(h_gain.data()), ROWS * sizeof(int16_t));
    if (!in_gain) {
        std::cerr << "missing or incomplete file data/gain.bin" << std::endl;
        return 1;
    }

    int16_t *d_x, *d_gain, *d_y;
    cudaMalloc(&d_x, total * sizeof(int16_t));
    cudaMalloc(&d_gain, ROWS * sizeof(int16_t));
    cudaMalloc(&d_y, total * sizeof(int16_t));
    cudaMemcpy(d_x, h_x.data(), total * sizeof(int16_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain, h_gain.data(), ROWS * sizeof(int16_t), cudaMemcpyHostToDevice);

    scale_q15_pairs<<<ROWS, 256>>>((const short2*)d_x, d_gain, (short2*)d_y);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "GPU: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, total * sizeof(int16_t), cudaMemcpyDeviceToHost);
    std::ofstream output("data/y.bin", std::ios::binary);
    output.write(reinterpret_cast<char*>(h_y.data()), total * sizeof(int16_t));

    cudaFree(d_x);
    cudaFree(d_gain);
    cudaFree(d_y);
    return 0;
}
