#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, float* values, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values), n * sizeof(float))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const float* values, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), n * sizeof(float));
}
//@given

const int kN = 16000;

__global__ void sum_squares(const float* weight, const float* grad, float* total, int n) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = (fabsf(weight[i]) + 0.01f) * grad[i];
        sum += v * v;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, part[0]);
}

__global__ void perturb(const float* weight, const float* grad, const float* total, float* perturbed,
        float* norm, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float length = sqrtf(*total);
    float t = fabsf(weight[i]) + 0.01f;
    perturbed[i] = weight[i] + 0.5f * t * t * grad[i] / (length + 1e-12f);
    if (i == 0) *norm = length;
}

int main() {
    float* h_weight = new float[kN];
    float* h_grad = new float[kN];
    float* h_perturbed = new float[kN];
    float* h_norm = new float[1];
    load("data/weight.bin", h_weight, kN);
    load("data/grad.bin", h_grad, kN);

    float *d_weight, *d_grad, *d_perturbed, *d_norm, *d_total;
    cudaMalloc(&d_weight, kN * sizeof(float));
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMalloc(&d_perturbed, kN * sizeof(float));
    cudaMalloc(&d_norm, sizeof(float));
    cudaMalloc(&d_total, sizeof(float));
    cudaMemcpy(d_weight, h_weight, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_total, 0, sizeof(float));

    sum_squares<<<256, 256>>>(d_weight, d_grad, d_total, kN);
    perturb<<<(kN + 255) / 256, 256>>>(d_weight, d_grad, d_total, d_perturbed, d_norm, kN);
    cudaDeviceSynchronize();

    cudaMemcpy(h_perturbed, d_perturbed, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_norm, d_norm, sizeof(float), cudaMemcpyDeviceToHost);
    save("data/perturbed.bin", h_perturbed, kN);
    save("data/norm.bin", h_norm, 1);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_perturbed);
    cudaFree(d_norm);
    cudaFree(d_total);
    delete[] h_weight;
    delete[] h_grad;
    delete[] h_perturbed;
    delete[] h_norm;
    return 0;
}
