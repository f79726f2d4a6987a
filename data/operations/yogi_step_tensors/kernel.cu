#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 12000;
constexpr int kTensors = 5;

// The start table is searched by bisection, once for each run of 8 elements of a thread.
__global__ void yogi_runs(const float* __restrict__ param, const float* __restrict__ grad,
        const float* __restrict__ m,
                          const float* __restrict__ v, const int* __restrict__ start, const float* __restrict__ rate,
                          float* __restrict__ param_out, float* __restrict__ v_out) {
    __shared__ int first[kTensors + 1];
    __shared__ float lr[kTensors];
    for (int k = threadIdx.x; k < kTensors; k += blockDim.x) {
        first[k] = start[k];
        lr[k] = rate[k];
    }
    if (threadIdx.x == 0) first[kTensors] = kN;
    __syncthreads();
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    if (i >= kN) return;
    int lo = 0, hi = kTensors;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (first[mid] <= i) lo = mid;
        else hi = mid;
    }
    for (int r = 0; r < 8 && i < kN; ++r, i += blockDim.x) {
        while (first[lo + 1] <= i) ++lo;
        const float g = grad[i], g2 = g * g, old = v[i];
        const float sign = (float)((old > g2) - (old < g2));
        const float now = old - 0.001f * sign * g2;
        v_out[i] = now;
        param_out[i] = param[i] - lr[lo] * (0.9f * m[i] + 0.1f * g) / (sqrtf(now) + 0.001f);
    }
}

int main() {
    std::vector<float> h_param(kN);
    std::vector<float> h_grad(kN);
    std::vector<float> h_m(kN);
    std::vector<float> h_v(kN);
    std::vector<int> h_start(kTensors);
    std::vector<float> h_rate(kTensors);
    std::vector<float> h_param_out(kN);
    std::vector<float> h_v_out(kN);
    std::ifstream param_in("data/param.bin", std::ios::binary);
    param_in.read(reinterpret_cast<char*>(h_param.data()), h_param.size() * sizeof(float));
    if (!param_in) {
        std::cerr << "cannot read data/param.bin" << std::endl;
        return 1;
    }
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read(reinterpret_cast<char*>(h_grad.data()), h_grad.size() * sizeof(float));
    if (!grad_in) {
        std::cerr << "failed to read data/grad.bin" << std::endl;
        return 1;
    }
    std::ifstream m_in("data/m.bin", std::ios::binary);
    m_in.read(reinterpret_cast<char*>(h_m.data()), h_m.size() * sizeof(float));
    if (!m_in) {
        std::cerr << "cannot read data/m.bin" << std::endl;
        return 1;
    }
    std::ifstream v_in("data/v.bin", std::ios::binary);
    v_in.read(reinterpret_cast<char*>(h_v.data()), h_v.size() * sizeof(float));
    if (!v_in) {
        std::cerr << "failed to read data/v.bin" << std::endl;
        return 1;
    }
    std::ifstream start_in("data/start.bin", std::ios::binary);
    start_in.read(reinterpret_cast<char*>(h_start.data()), h_start.size() * sizeof(int));
    if (!start_in) {
        std::cerr << "failed to read data/start.bin" << std::endl;
        return 1;
    }
    std::ifstream rate_in("data/rate.bin", std::ios::binary);
    rate_in.read(reinterpret_cast<char*>(h_rate.data()), h_rate.size() * sizeof(float));
    if (!rate_in) {
        std::cerr << "short read from data/rate.bin" << std::endl;
        return 1;
    }

    float *d_param, *d_grad, *d_m, *d_v, *d_rate, *d_param_out, *d_v_out;
    int* d_start;
    cudaMalloc(&d_param, kN * sizeof(float));
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMalloc(&d_m, kN * sizeof(float));
    cudaMalloc(&d_v, kN * sizeof(float));
    cudaMalloc(&d_start, kTensors * sizeof(int));
    cudaMalloc(&d_rate, kTensors * sizeof(float));
    cudaMalloc(&d_param_out, kN * sizeof(float));
    cudaMalloc(&d_v_out, kN * sizeof(float));
    cudaMemcpy(d_param, h_param.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m, h_m.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_start, h_start.data(), kTensors * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, h_rate.data(), kTensors * sizeof(float), cudaMemcpyHostToDevice);

    yogi_runs<<<(kN + 2047) / 2048, 256>>>(d_param, d_grad, d_m, d_v, d_start, d_rate, d_param_out, d_v_out);

    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_param_out.data(), d_param_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v_out.data(), d_v_out, kN * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/param_out.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(h_param_out.data()), h_param_out.size() * sizeof(float));
    std::ofstream("data/v_out.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(h_v_out.data()), h_v_out.size() * sizeof(float));
    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_v);
    cudaFree(d_start);
    cudaFree(d_rate);
    cudaFree(d_param_out);
    cudaFree(d_v_out);
    return 0;
}
