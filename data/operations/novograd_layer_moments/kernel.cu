#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> result(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(result.data()), count * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return result;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& result) {
    std::ofstream in(path, std::ios::binary);
    in.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(T));
}
//@given

constexpr int kLayers = 24;
constexpr int kWidth = 500;
constexpr int kTotal = kLayers * kWidth;

constexpr int kThreads = 512;

__global__ void novograd_shuffle(const float* __restrict__ weight, const float* __restrict__ grad,
                                 const float* __restrict__ moment, const float* __restrict__ second,
                                 float* __restrict__ weight_out, float* __restrict__ moment_out,
                                 float* __restrict__ second_out) {
    __shared__ float warp_sums[kThreads / 32];
    __shared__ float inv_norm;
    const size_t base = (size_t)blockIdx.x * kWidth;
    float q = 0.0f;
    for (int i = threadIdx.x; i < kWidth; i += kThreads) {
        const float g = grad[base + i];
        q = fmaf(g, g, q);
    }
    for (int d = 16; d > 0; d /= 2) q += __shfl_xor_sync(0xffffffffu, q, d);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = q;
    __syncthreads();
    if (threadIdx.x < 32) {
        q = threadIdx.x < kThreads / 32 ? warp_sums[threadIdx.x] : 0.0f;
        for (int d = 8; d > 0; d /= 2) q += __shfl_down_sync(0xffffffffu, q, d);
        if (threadIdx.x == 0) {
            const float old = second[blockIdx.x];
            const float v = old == 0.0f ? q : old + 0.02f * (q - old);
            second_out[blockIdx.x] = v;
            inv_norm = 1.0f / (sqrtf(v) + 1e-8f);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kWidth; i += kThreads) {
        const float w = weight[base + i];
        const float m = 0.95f * moment[base + i] + fmaf(grad[base + i], inv_norm, 0.001f * w);
        moment_out[base + i] = m;
        weight_out[base + i] = fmaf(-0.01f, m, w);
    }
}

int main() {
    const auto h_weight = load_file<float>("data/weight.bin", kTotal);
    const auto h_grad = load_file<float>("data/grad.bin", kTotal);
    const auto h_moment = load_file<float>("data/moment.bin", kTotal);
    const auto h_second = load_file<float>("data/second.bin", kLayers);
    std::vector<float> h_weight_out(kTotal);
    std::vector<float> h_moment_out(kTotal);
    std::vector<float> h_second_out(kLayers);

    float* d_weight;
    cudaMalloc(&d_weight, kTotal * sizeof(float));
    float* d_grad;
    cudaMalloc(&d_grad, kTotal * sizeof(float));
    float* d_moment;
    cudaMalloc(&d_moment, kTotal * sizeof(float));
    float* d_second;
    cudaMalloc(&d_second, kLayers * sizeof(float));
    float* d_weight_out;
    cudaMalloc(&d_weight_out, kTotal * sizeof(float));
    float* d_moment_out;
    cudaMalloc(&d_moment_out, kTotal * sizeof(float));
    float* d_second_out;
    cudaMalloc(&d_second_out, kLayers * sizeof(float));
    cudaMemcpy(d_weight, h_weight.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second.data(), kLayers * sizeof(float), cudaMemcpyHostToDevice);

    novograd_shuffle<<<kLayers, kThreads>>>(d_weight, d_grad, d_moment, d_second, d_weight_out, d_moment_out,
            d_second_out);

    const auto rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }
    cudaMemcpy(h_weight_out.data(), d_weight_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_moment_out.data(), d_moment_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_second_out.data(), d_second_out, kLayers * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/weight_out.bin", h_weight_out);
    store_file("data/moment_out.bin", h_moment_out);
    store_file("data/second_out.bin", h_second_out);
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_moment);
    cudaFree(d_second);
    cudaFree(d_weight_out);
    cudaFree(d_moment_out);
    cudaFree(d_second_out);
    return 0;
}
