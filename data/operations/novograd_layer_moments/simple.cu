#include <cuda_runtime.h>
#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int LAYERS = 24;
constexpr int WIDTH = 500;
constexpr int COUNT = LAYERS * WIDTH;

__global__ void novograd(const float* weight, const float* grad, const float* moment, const float* second,
                         float* weight_out, float* moment_out, float* second_out, int width) {
    __shared__ float sums[256];
    int layer = blockIdx.x, t = threadIdx.x;
    size_t base = (size_t)layer * width;
    float q = 0.0f;
    for (int i = t; i < width; i += blockDim.x) q += grad[base + i] * grad[base + i];
    sums[t] = q;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    float v = second[layer];
    v = v == 0.0f ? sums[0] : 0.98f * v + 0.02f * sums[0];
    if (t == 0) second_out[layer] = v;
    float n = sqrtf(v) + 1e-8f;
    for (int i = t; i < width; i += blockDim.x) {
        float w = weight[base + i];
        float m = 0.95f * moment[base + i] + (grad[base + i] / n + 0.001f * w);
        moment_out[base + i] = m;
        weight_out[base + i] = w - 0.01f * m;
    }
}

int main() {
    std::vector<float> h_weight(COUNT);
    std::vector<float> h_grad(COUNT);
    std::vector<float> h_moment(COUNT);
    std::vector<float> h_second(LAYERS);
    std::vector<float> h_weight_out(COUNT);
    std::vector<float> h_moment_out(COUNT);
    std::vector<float> h_second_out(LAYERS);
    std::ifstream weight_in("data/weight.bin", std::ios::binary);
    weight_in.read((char*)h_weight.data(), h_weight.size() * sizeof(float));
    if (!weight_in) {
        std::cerr << "cannot read data/weight.bin" << std::endl;
        return 1;
    }
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read((char*)h_grad.data(), h_grad.size() * sizeof(float));
    if (!grad_in) {
        std::cerr << "failed to read data/grad.bin" << std::endl;
        return 1;
    }
    std::ifstream moment_in("data/moment.bin", std::ios::binary);
    moment_in.read((char*)h_moment.data(), h_moment.size() * sizeof(float));
    if (!moment_in) {
        std::cerr << "short read from data/moment.bin" << std::endl;
        return 1;
    }
    std::ifstream second_in("data/second.bin", std::ios::binary);
    second_in.read((char*)h_second.data(), h_second.size() * sizeof(float));
    if (!second_in) {
        std::cerr << "short read from data/second.bin" << std::endl;
        return 1;
    }

    float *d_weight, *d_grad, *d_moment, *d_second, *d_weight_out, *d_moment_out, *d_second_out;
    cudaMalloc(&d_weight, COUNT * sizeof(float));
    cudaMalloc(&d_grad, COUNT * sizeof(float));
    cudaMalloc(&d_moment, COUNT * sizeof(float));
    cudaMalloc(&d_second, LAYERS * sizeof(float));
    cudaMalloc(&d_weight_out, COUNT * sizeof(float));
    cudaMalloc(&d_moment_out, COUNT * sizeof(float));
    cudaMalloc(&d_second_out, LAYERS * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second.data(), LAYERS * sizeof(float), cudaMemcpyHostToDevice);

    novograd<<<LAYERS, 256>>>(d_weight, d_grad, d_moment, d_second, d_weight_out, d_moment_out, d_second_out, WIDTH);

    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_weight_out.data(), d_weight_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_moment_out.data(), d_moment_out, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_second_out.data(), d_second_out, LAYERS * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream weight_out_out("data/weight_out.bin", std::ios::binary);
    weight_out_out.write((const char*)h_weight_out.data(), h_weight_out.size() * sizeof(float));
    std::ofstream moment_out_out("data/moment_out.bin", std::ios::binary);
    moment_out_out.write((const char*)h_moment_out.data(), h_moment_out.size() * sizeof(float));
    std::ofstream out_second_out("data/second_out.bin", std::ios::binary);
    out_second_out.write((const char*)h_second_out.data(), h_second_out.size() * sizeof(float));
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_moment);
    cudaFree(d_second);
    cudaFree(d_weight_out);
    cudaFree(d_moment_out);
    cudaFree(d_second_out);
    return 0;
}
