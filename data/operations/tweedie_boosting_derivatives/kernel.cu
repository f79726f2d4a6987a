#include <cuda_runtime.h>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, float* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data), count * sizeof(float))) {
        std::cerr << "error reading " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const float* data, size_t count) {
    std::ofstream f(path, std::ios::binary);
    f.write(reinterpret_cast<const char*>(data), count * sizeof(float));
    if (!f) std::cerr << "error writing " << path << std::endl;
}
//@given

const int kN = 14000;

// b = exp(s) * exp(-0.3 s), so the factor e is shared: grad = w e (exp(s) - y).
__global__ void tweedie_grid(const float* __restrict__ raw, const float* __restrict__ label,
                             const float* __restrict__ weight, float* __restrict__ grad, float* __restrict__ hess) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int step = gridDim.x * blockDim.x;
    while (i < kN) {
        const float s = raw[i];
        const float y = label[i];
        const float we = weight[i] * expf(-0.3f * s);
        const float rate = expf(s);
        grad[i] = we * (rate - y);
        hess[i] = fmaxf(we * fmaf(0.7f, rate, 0.3f * y), 1e-6f);
        i += step;
    }
}

int main() {
    float* h_raw = new float[kN];
    load("data/raw.bin", h_raw, kN);
    float* h_label = new float[kN];
    load("data/label.bin", h_label, kN);
    float* h_weight = new float[kN];
    load("data/weight.bin", h_weight, kN);
    float* h_grad = new float[kN];
    float* h_hess = new float[kN];

    float* d_raw;
    float* d_label;
    float* d_weight;
    float* d_grad;
    float* d_hess;
    cudaMalloc(&d_raw, kN * sizeof(float));
    cudaMalloc(&d_label, kN * sizeof(float));
    cudaMalloc(&d_weight, kN * sizeof(float));
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMalloc(&d_hess, kN * sizeof(float));
    cudaMemcpy(d_raw, h_raw, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_label, h_label, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, kN * sizeof(float), cudaMemcpyHostToDevice);

    tweedie_grid<<<1056, 256>>>(d_raw, d_label, d_weight, d_grad, d_hess);

    cudaMemcpy(h_grad, d_grad, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hess, d_hess, kN * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/grad.bin", h_grad, kN);
    save("data/hess.bin", h_hess, kN);

    cudaFree(d_raw);
    cudaFree(d_label);
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_hess);
    delete[] h_raw;
    delete[] h_label;
    delete[] h_weight;
    delete[] h_grad;
    delete[] h_hess;
    return 0;
}
