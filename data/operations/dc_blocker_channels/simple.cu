#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int STEPS = 400;
const int CHANNELS = 96;

__global__ void dc_blocker(const float* x, const float* pole, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= CHANNELS) return;
    float a = pole[k];
    float prev_x = 0.0f, prev_y = 0.0f;
    for (int t = 0; t < STEPS; ++t) {
        size_t i = (size_t)t * CHANNELS + k;
        float v = x[i];
        prev_y = v - prev_x + a * prev_y;
        prev_x = v;
        y[i] = prev_y;
    }
}

int main() {
    const size_t numel = (size_t)STEPS * CHANNELS;
    float* x;
    float* pole;
    float* y;
    cudaMallocManaged(&x, numel * sizeof(float));
    cudaMallocManaged(&pole, CHANNELS * sizeof(float));
    cudaMallocManaged(&y, numel * sizeof(float));

    std::ifstream x_stream("data/x.bin", std::ios::binary);
    if (!x_stream.read(reinterpret_cast<char*>(x), numel * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream pole_stream("data/pole.bin", std::ios::binary);
    if (!pole_stream.read(reinterpret_cast<char*>(pole), CHANNELS * sizeof(float))) {
        std::cerr << "cannot read data/pole.bin\n";
        return 1;
    }

    dc_blocker<<<(CHANNELS - 1) / 64 + 1, 64>>>(x, pole, y);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream output("data/y.bin", std::ios::binary);
    output.write(reinterpret_cast<char*>(y), numel * sizeof(float));

    cudaFree(x);
    cudaFree(pole);
    cudaFree(y);
    return 0;
}
