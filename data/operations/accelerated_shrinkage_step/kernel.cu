#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 15000;

// The shrinkage is written as v - clamp(v, -limit, limit).
__global__ void fista_stride(const float* __restrict__ point, const float* __restrict__ last,
                             const float* __restrict__ grad, const float* __restrict__ penalty,
                             const float* __restrict__ clock, float* __restrict__ next_point,
                             float* __restrict__ lookahead, float* __restrict__ clock_out) {
    __shared__ float momentum;
    if (threadIdx.x == 0) {
        const float t = *clock;
        const float t2 = 0.5f + sqrtf(0.25f + t * t);
        momentum = (t - 1.0f) / t2;
        if (blockIdx.x == 0) *clock_out = t2;
    }
    __syncthreads();
    const float beta = momentum;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += gridDim.x * blockDim.x) {
        const float limit = 0.1f * penalty[i];
        const float v = fmaf(-0.1f, grad[i], point[i]);
        const float x = v - fminf(limit, fmaxf(-limit, v));
        next_point[i] = x;
        lookahead[i] = fmaf(beta, x - last[i], x);
    }
}

int main() {
    std::vector<float> h_point(kN);
    std::vector<float> h_last(kN);
    std::vector<float> h_grad(kN);
    std::vector<float> h_penalty(kN);
    std::vector<float> h_clock(1);
    std::vector<float> h_next_point(kN);
    std::vector<float> h_lookahead(kN);
    std::vector<float> h_clock_out(1);
    std::ifstream point_in("data/point.bin", std::ios::binary);
    point_in.read((char*)h_point.data(), h_point.size() * sizeof(float));
    if (!point_in) {
        std::cerr << "failed to read data/point.bin" << std::endl;
        return 1;
    }
    std::ifstream last_in("data/last.bin", std::ios::binary);
    last_in.read((char*)h_last.data(), h_last.size() * sizeof(float));
    if (!last_in) {
        std::cerr << "failed to read data/last.bin" << std::endl;
        return 1;
    }
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read((char*)h_grad.data(), h_grad.size() * sizeof(float));
    if (!grad_in) {
        std::cerr << "short read from data/grad.bin" << std::endl;
        return 1;
    }
    std::ifstream penalty_in("data/penalty.bin", std::ios::binary);
    penalty_in.read((char*)h_penalty.data(), h_penalty.size() * sizeof(float));
    if (!penalty_in) {
        std::cerr << "failed to read data/penalty.bin" << std::endl;
        return 1;
    }
    std::ifstream clock_in("data/clock.bin", std::ios::binary);
    clock_in.read((char*)h_clock.data(), h_clock.size() * sizeof(float));
    if (!clock_in) {
        std::cerr << "short read from data/clock.bin" << std::endl;
        return 1;
    }

    float *d_point, *d_last, *d_grad, *d_penalty, *d_clock, *d_next_point, *d_lookahead, *d_clock_out;
    cudaMalloc(&d_point, kN * sizeof(float));
    cudaMemcpy(d_point, h_point.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_last, kN * sizeof(float));
    cudaMemcpy(d_last, h_last.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_grad, kN * sizeof(float));
    cudaMemcpy(d_grad, h_grad.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_penalty, kN * sizeof(float));
    cudaMemcpy(d_penalty, h_penalty.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_clock, sizeof(float));
    cudaMemcpy(d_clock, h_clock.data(), sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_next_point, kN * sizeof(float));
    cudaMalloc(&d_lookahead, kN * sizeof(float));
    cudaMalloc(&d_clock_out, sizeof(float));

    fista_stride<<<660, 256>>>(d_point, d_last, d_grad, d_penalty, d_clock, d_next_point, d_lookahead, d_clock_out);

    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_next_point.data(), d_next_point, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_lookahead.data(), d_lookahead, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_clock_out.data(), d_clock_out, sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream next_point_out("data/next_point.bin", std::ios::binary);
    next_point_out.write((const char*)h_next_point.data(), h_next_point.size() * sizeof(float));
    std::ofstream lookahead_out("data/lookahead.bin", std::ios::binary);
    lookahead_out.write((const char*)h_lookahead.data(), h_lookahead.size() * sizeof(float));
    std::ofstream out_clock_out("data/clock_out.bin", std::ios::binary);
    out_clock_out.write((const char*)h_clock_out.data(), h_clock_out.size() * sizeof(float));
    cudaFree(d_point);
    cudaFree(d_last);
    cudaFree(d_grad);
    cudaFree(d_penalty);
    cudaFree(d_clock);
    cudaFree(d_next_point);
    cudaFree(d_lookahead);
    cudaFree(d_clock_out);
    return 0;
}
