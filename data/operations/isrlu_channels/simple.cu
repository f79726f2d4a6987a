#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define BATCH 2
#define CHANNELS 5
#define HEIGHT 30
#define WIDTH 31

__global__ void isrlu(const float* x, const float* alpha, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = (i / (HEIGHT * WIDTH)) % CHANNELS;
        float v = x[i];
        y[i] = v >= 0.0f ? v : v / sqrtf(1.0f + alpha[c] * v * v);
    }
}

int main() {
    const int n = BATCH * CHANNELS * HEIGHT * WIDTH;
    float *x, *alpha, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&alpha, CHANNELS * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));

    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(x), n * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream alpha_in("data/alpha.bin", std::ios::binary);
    if (!alpha_in.read(reinterpret_cast<char*>(alpha), CHANNELS * sizeof(float))) {
        std::cerr << "cannot read data/alpha.bin\n";
        return 1;
    }

    int threads = 256;
    isrlu<<<(n + threads - 1) / threads, threads>>>(x, alpha, y, n);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::ofstream y_out("data/y.bin", std::ios::binary);
    y_out.write(reinterpret_cast<const char*>(y), n * sizeof(float));

    cudaFree(x);
    cudaFree(alpha);
    cudaFree(y);
    return 0;
}
