#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 120;
const int COLS = 130;

__global__ void suffix_minimum(const float* x, float* low, float* slack) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < COLS) {
        float m = x[(size_t)(ROWS - 1) * COLS + c];
        for (int r = ROWS - 1; r >= 0; --r) {
            size_t i = (size_t)r * COLS + c;
            m = fminf(m, x[i]);
            low[i] = m;
            slack[i] = x[i] - m;
        }
    }
}

int main() {
    const int n = ROWS * COLS;
    std::vector<float> h_x(n);
    std::vector<float> h_low(n);
    std::vector<float> h_slack(n);

    std::ifstream in("data/x.bin", std::ios::binary);
    in.read(reinterpret_cast<char*>(h_x.data()), n * sizeof(float));
    if (!in) {
        std::cerr << "Cannot read data/x.bin" << std::endl;
        return 1;
    }

    float *d_x, *d_low, *d_slack;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_low, n * sizeof(float));
    cudaMalloc(&d_slack, n * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 64;
    suffix_minimum<<<(COLS + threads - 1) / threads, threads>>>(d_x, d_low, d_slack);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_low.data(), d_low, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_slack.data(), d_slack, n * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream low_out("data/low.bin", std::ios::binary);
    low_out.write(reinterpret_cast<char*>(h_low.data()), n * sizeof(float));
    std::ofstream slack_out("data/slack.bin", std::ios::binary);
    slack_out.write(reinterpret_cast<char*>(h_slack.data()), n * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_slack);
    return 0;
}
