#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* data, size_t count) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(data), count * sizeof(float))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
    if (!file) std::cerr << "error writing " << path << std::endl;
}
//@given

constexpr int kUnits = 100;
constexpr int kFanIn = 200;

__global__ void unit_clip(const float* weight, const float* grad, float* clipped, float* scale, int fan_in) {
    __shared__ float sw[128], sg[128];
    int t = threadIdx.x;
    const float* w = weight + (size_t)blockIdx.x * fan_in;
    const float* g = grad + (size_t)blockIdx.x * fan_in;
    float a = 0.0f, b = 0.0f;
    for (int k = t; k < fan_in; k += 128) {
        a += w[k] * w[k];
        b += g[k] * g[k];
    }
    sw[t] = a;
    sg[t] = b;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) {
            sw[t] += sw[t + s];
            sg[t] += sg[t + s];
        }
        __syncthreads();
    }
    float limit = 0.02f * fmaxf(sqrtf(sw[0]), 0.001f);
    float norm = sqrtf(sg[0]);
    float factor = norm > limit ? limit / fmaxf(norm, 1e-6f) : 1.0f;
    if (t == 0) scale[blockIdx.x] = factor;
    for (int k = t; k < fan_in; k += 128) clipped[(size_t)blockIdx.x * fan_in + k] = g[k] * factor;
}

int main() {
    float* h_weight = new float[kUnits * kFanIn];
    float* h_grad = new float[kUnits * kFanIn];
    float* h_clipped = new float[kUnits * kFanIn];
    float* h_scale = new float[kUnits];
    load("data/weight.bin", h_weight, kUnits * kFanIn);
    load("data/grad.bin", h_grad, kUnits * kFanIn);

    float* d_weight;
    float* d_grad;
    float* d_clipped;
    float* d_scale;
    cudaMalloc(&d_weight, kUnits * kFanIn * sizeof(float));
    cudaMalloc(&d_grad, kUnits * kFanIn * sizeof(float));
    cudaMalloc(&d_clipped, kUnits * kFanIn * sizeof(float));
    cudaMalloc(&d_scale, kUnits * sizeof(float));
    cudaMemcpy(d_weight, h_weight, kUnits * kFanIn * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, kUnits * kFanIn * sizeof(float), cudaMemcpyHostToDevice);

    unit_clip<<<kUnits, 128>>>(d_weight, d_grad, d_clipped, d_scale, kFanIn);
    cudaDeviceSynchronize();

    cudaMemcpy(h_clipped, d_clipped, kUnits * kFanIn * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_scale, d_scale, kUnits * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/clipped.bin", h_clipped, kUnits * kFanIn);
    save("data/scale.bin", h_scale, kUnits);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_clipped);
    cudaFree(d_scale);
    delete[] h_weight;
    delete[] h_grad;
    delete[] h_clipped;
    delete[] h_scale;
    return 0;
}
