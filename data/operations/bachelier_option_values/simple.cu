#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
}

void save(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int kN = 5000;

__global__ void bachelier(const float* forward, const float* strike, const float* deviation, const float* expiry,
                          float* call, float* put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float m = forward[i] - strike[i];
    float w = deviation[i] * sqrtf(expiry[i]);
    if (w == 0.0f) {
        call[i] = fmaxf(m, 0.0f);
        put[i] = fmaxf(-m, 0.0f);
        return;
    }
    float z = m / w;
    float cdf = 0.5f * erfcf(-z * 0.70710678f);
    float pdf = 0.39894228f * expf(-0.5f * z * z);
    float c = m * cdf + w * pdf;
    call[i] = c;
    put[i] = c - m;
}

int main() {
    float* h_forward = new float[kN];
    float* h_strike = new float[kN];
    float* h_deviation = new float[kN];
    float* h_expiry = new float[kN];
    float* h_call = new float[kN];
    float* h_put = new float[kN];
    load("data/forward.bin", h_forward, kN);
    load("data/strike.bin", h_strike, kN);
    load("data/deviation.bin", h_deviation, kN);
    load("data/expiry.bin", h_expiry, kN);

    float *d_forward, *d_strike, *d_deviation, *d_expiry, *d_call, *d_put;
    cudaMalloc(&d_forward, kN * sizeof(float));
    cudaMalloc(&d_strike, kN * sizeof(float));
    cudaMalloc(&d_deviation, kN * sizeof(float));
    cudaMalloc(&d_expiry, kN * sizeof(float));
    cudaMalloc(&d_call, kN * sizeof(float));
    cudaMalloc(&d_put, kN * sizeof(float));
    cudaMemcpy(d_forward, h_forward, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, h_strike, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_deviation, h_deviation, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_expiry, h_expiry, kN * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    bachelier<<<(kN + block - 1) / block, block>>>(d_forward, d_strike, d_deviation, d_expiry, d_call, d_put);
    cudaDeviceSynchronize();

    cudaMemcpy(h_call, d_call, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_put, d_put, kN * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/call.bin", h_call, kN);
    save("data/put.bin", h_put, kN);

    cudaFree(d_forward);
    cudaFree(d_strike);
    cudaFree(d_deviation);
    cudaFree(d_expiry);
    cudaFree(d_call);
    cudaFree(d_put);
    delete[] h_forward;
    delete[] h_strike;
    delete[] h_deviation;
    delete[] h_expiry;
    delete[] h_call;
    delete[] h_put;
    return 0;
}
