#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 100;
const int STEPS = 64;

__global__ void binomial_tree(const float* spot, const float* strike, const float* volatility, float* value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float dt = 1.0f / STEPS;
    float u = expf(volatility[i] * sqrtf(dt));
    float d = 1.0f / u;
    float r = expf(0.03f * dt);
    float p = (r - d) / (u - d);

    float node[STEPS + 1];
    for (int j = 0; j <= STEPS; ++j) {
        float s = spot[i] * expf(volatility[i] * sqrtf(dt) * (2 * j - STEPS));
        node[j] = fmaxf(s - strike[i], 0.0f);
    }
    for (int level = STEPS; level > 0; --level)
        for (int j = 0; j < level; ++j)
            node[j] = (p * node[j + 1] + (1.0f - p) * node[j]) / r;
    value[i] = node[0];
}

int main() {
    std::vector<float> h_spot(N);
    std::vector<float> h_strike(N);
    std::vector<float> h_volatility(N);
    std::vector<float> h_value(N);

    std::ifstream in_spot("data/spot.bin", std::ios::binary);
    in_spot.read(reinterpret_cast<char*>(h_spot.data()), h_spot.size() * sizeof(float));
    if (!in_spot) {
        std::cerr << "missing or short data/spot.bin" << std::endl;
        return 1;
    }
    std::ifstream in_strike("data/strike.bin", std::ios::binary);
    in_strike.read(reinterpret_cast<char*>(h_strike.data()), h_strike.size() * sizeof(float));
    if (!in_strike) {
        std::cerr << "missing or short data/strike.bin" << std::endl;
        return 1;
    }
    std::ifstream in_volatility("data/volatility.bin", std::ios::binary);
    in_volatility.read(reinterpret_cast<char*>(h_volatility.data()), h_volatility.size() * sizeof(float));
    if (!in_volatility) {
        std::cerr << "missing or short data/volatility.bin" << std::endl;
        return 1;
    }

    float *d_spot, *d_strike, *d_volatility, *d_value;
    cudaMalloc(&d_spot, N * sizeof(float));
    cudaMalloc(&d_strike, N * sizeof(float));
    cudaMalloc(&d_volatility, N * sizeof(float));
    cudaMalloc(&d_value, N * sizeof(float));
    cudaMemcpy(d_spot, h_spot.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, h_strike.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_volatility, h_volatility.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    binomial_tree<<<(N + 64 - 1) / 64, 64>>>(d_spot, d_strike, d_volatility, d_value);

    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_value.data(), d_value, N * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/value.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_value.data()), N * sizeof(float));

    cudaFree(d_spot);
    cudaFree(d_strike);
    cudaFree(d_volatility);
    cudaFree(d_value);
    return 0;
}
