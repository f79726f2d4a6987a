#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data), bytes)) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void writeFile(const std::string& path, const void* data, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), bytes);
}
//@given

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

const int STEPS = 200;
const int SERIES = 120;

__global__ void holt(const float* x, const float* alpha, const float* beta, float* forecast) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= SERIES) return;
    float a = alpha[k], b = beta[k];
    float level = x[k];
    float trend = x[SERIES + k] - x[k];
    forecast[k] = x[k];
    for (int t = 1; t < STEPS; ++t) {
        size_t i = (size_t)t * SERIES + k;
        float predicted = level + trend;
        forecast[i] = predicted;
        float next = a * x[i] + (1.0f - a) * predicted;
        trend = b * (next - level) + (1.0f - b) * trend;
        level = next;
    }
}

int main() {
    const size_t count = (size_t)STEPS * SERIES;
    float* h_x = new float[count];
    float* h_alpha = new float[SERIES];
    float* h_beta = new float[SERIES];
    float* h_forecast = new float[count];
    readFile("data/x.bin", h_x, count * sizeof(float));
    readFile("data/alpha.bin", h_alpha, SERIES * sizeof(float));
    readFile("data/beta.bin", h_beta, SERIES * sizeof(float));

    float *dev_x, *dev_alpha, *dev_beta, *dev_forecast;
    cudaMalloc(&dev_x, count * sizeof(float));
    cudaMalloc(&dev_alpha, SERIES * sizeof(float));
    cudaMalloc(&dev_beta, SERIES * sizeof(float));
    cudaMalloc(&dev_forecast, count * sizeof(float));
    cudaMemcpy(dev_x, h_x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_alpha, h_alpha, SERIES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_beta, h_beta, SERIES * sizeof(float), cudaMemcpyHostToDevice);

    int block = 64;
    holt<<<ceil_div(SERIES, block), block>>>(dev_x, dev_alpha, dev_beta, dev_forecast);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_forecast, dev_forecast, count * sizeof(float), cudaMemcpyDeviceToHost);
    writeFile("data/forecast.bin", h_forecast, count * sizeof(float));

    cudaFree(dev_x);
    cudaFree(dev_alpha);
    cudaFree(dev_beta);
    cudaFree(dev_forecast);
    delete[] h_x;
    delete[] h_alpha;
    delete[] h_beta;
    delete[] h_forecast;
    return 0;
}
