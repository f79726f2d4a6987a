#include <cuda_runtime.h>
#include <fstream>
#include <iostream>

constexpr int kRows = 100;
constexpr int kCols = 150;

__global__ void crelu_row(const float* __restrict__ x, float* __restrict__ y) {
    const float* in = x + (size_t)blockIdx.x * kCols;
    float* positive = y + (size_t)blockIdx.x * 2 * kCols;
    float* negative = positive + kCols;
    for (int c = threadIdx.x; c < kCols; c += blockDim.x) {
        const float v = in[c];
        const bool up = v > 0.0f;
        positive[c] = up ? v : 0.0f;
        negative[c] = up ? 0.0f : fabsf(v);
    }
}

int main() {
    const size_t x_size = kRows * kCols;
    const int n_y = kRows * (kCols * 2);
    float *x, *y;
    cudaMallocManaged(&x, x_size * sizeof(float));
    cudaMallocManaged(&y, n_y * sizeof(float));

    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(x), x_size * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }

    crelu_row<<<kRows, 192>>>(x, y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::ofstream y_out("data/y.bin", std::ios::binary);
    y_out.write(reinterpret_cast<const char*>(y), n_y * sizeof(float));

    cudaFree(y);
    cudaFree(x);
    return 0;
}
