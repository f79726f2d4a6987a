#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define STEPS 200
#define SERIES 120
#define BLOCK 64
#define AHEAD 8

// Error-correction form; eight samples are loaded ahead of the dependent updates.
__global__ void holt_prefetch(const float* __restrict__ x, const float* __restrict__ alpha,
                              const float* __restrict__ beta, float* __restrict__ forecast) {
    int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= SERIES) return;
    float a = alpha[k];
    float ab = a * beta[k];
    float level = x[k];
    float trend = x[SERIES + k] - level;
    forecast[k] = level;
    float samples[AHEAD];
    for (int t0 = 1; t0 < STEPS; t0 += AHEAD) {
        #pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            if (t0 + j < STEPS) samples[j] = x[(size_t)(t0 + j) * SERIES + k];
        }
        #pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            if (t0 + j >= STEPS) break;
            float predicted = level + trend;
            float error = samples[j] - predicted;
            forecast[(size_t)(t0 + j) * SERIES + k] = predicted;
            level = fmaf(a, error, predicted);
            trend = fmaf(ab, error, trend);
        }
    }
}

int main() {
    const int elements = STEPS * SERIES;
    std::vector<float> h_x(elements);
    std::vector<float> h_alpha(SERIES);
    std::vector<float> h_beta(SERIES);
    std::vector<float> h_forecast(elements);

    std::ifstream x_file("data/x.bin", std::ios::binary);
    x_file.read(reinterpret_cast<char*>(h_x.data()), elements * sizeof(float));
    if (!x_file) {
        std::cerr << "Failed to read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream alpha_file("data/alpha.bin", std::ios::binary);
    alpha_file.read(reinterpret_cast<char*>(h_alpha.data()), SERIES * sizeof(float));
    if (!alpha_file) {
        std::cerr << "Failed to read data/alpha.bin" << std::endl;
        return 1;
    }
    std::ifstream beta_in("data/beta.bin", std::ios::binary);
    beta_in.read(reinterpret_cast<char*>(h_beta.data()), SERIES * sizeof(float));
    if (!beta_in) {
        std::cerr << "Could not read data/beta.bin" << std::endl;
        return 1;
    }

    float *d_x, *d_alpha, *d_beta, *d_forecast;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMalloc(&d_alpha, SERIES * sizeof(float));
    cudaMalloc(&d_beta, SERIES * sizeof(float));
    cudaMalloc(&d_forecast, elements * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_alpha, h_alpha.data(), SERIES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_beta, h_beta.data(), SERIES * sizeof(float), cudaMemcpyHostToDevice);

    holt_prefetch<<<(SERIES + BLOCK - 1) / BLOCK, BLOCK>>>(d_x, d_alpha, d_beta, d_forecast);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_forecast.data(), d_forecast, elements * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out("data/forecast.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(h_forecast.data()), elements * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_alpha);
    cudaFree(d_beta);
    cudaFree(d_forecast);
    return 0;
}
