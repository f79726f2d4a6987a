#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int STEPS = 300;
const int CHANNELS = 80;

__global__ void forward_fill(const float* x, const unsigned char* valid, const float* initial, float* filled) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= CHANNELS) return;
    float last = initial[k];
    for (int t = 0; t < STEPS; ++t) {
        size_t i = (size_t)t * CHANNELS + k;
        if (valid[i]) last = x[i];
        filled[i] = last;
    }
}

int main() {
    float* x;
    unsigned char* valid;
    float* initial;
    float* filled;
    cudaMallocManaged(&x, STEPS * CHANNELS * sizeof(float));
    cudaMallocManaged(&valid, STEPS * CHANNELS * sizeof(unsigned char));
    cudaMallocManaged(&initial, CHANNELS * sizeof(float));
    cudaMallocManaged(&filled, STEPS * CHANNELS * sizeof(float));

    std::ifstream x_stream("data/x.bin", std::ios::binary);
    if (!x_stream.read(reinterpret_cast<char*>(x), STEPS * CHANNELS * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream valid_stream("data/valid.bin", std::ios::binary);
    if (!valid_stream.read(reinterpret_cast<char*>(valid), STEPS * CHANNELS * sizeof(unsigned char))) {
        std::cerr << "cannot read data/valid.bin\n";
        return 1;
    }
    std::ifstream initial_stream("data/initial.bin", std::ios::binary);
    if (!initial_stream.read(reinterpret_cast<char*>(initial), CHANNELS * sizeof(float))) {
        std::cerr << "cannot read data/initial.bin\n";
        return 1;
    }

    forward_fill<<<(CHANNELS - 1) / 64 + 1, 64>>>(x, valid, initial, filled);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream output("data/filled.bin", std::ios::binary);
    output.write(reinterpret_cast<char*>(filled), STEPS * CHANNELS * sizeof(float));

    cudaFree(x);
    cudaFree(valid);
    cudaFree(initial);
    cudaFree(filled);
    return 0;
}
