#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define DIV_UP(x, y) (((x) + (y) - 1) / (y))

const int CHAINS = 8;
const int DIM = 1500;

// With r = sqrt(h * G) the drift is r * r * grad / 2, so theta_out = theta + r * (noise - r * grad / 2).
__global__ void langevin_rows(const float* __restrict__ theta, const float* __restrict__ grad,
                              const float* __restrict__ noise, const float* __restrict__ second,
                              const float* __restrict__ rate, float* __restrict__ theta_out,
                              float* __restrict__ second_out) {
    const float h = rate[blockIdx.y];
    const size_t base = (size_t)blockIdx.y * DIM;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < DIM; k += gridDim.x * blockDim.x) {
        const float g = grad[base + k];
        const float s = fmaf(0.01f * g, g, 0.99f * second[base + k]);
        const float r = sqrtf(h / (sqrtf(s) + 1e-5f));
        second_out[base + k] = s;
        theta_out[base + k] = theta[base + k] + r * (noise[base + k] - 0.5f * r * g);
    }
}

void launch(const float* d_theta, const float* d_grad, const float* d_noise, const float* d_second,
            const float* d_rate, float* d_theta_out, float* d_second_out) {
    int strips = DIV_UP(DIM, 1024);
    langevin_rows<<<dim3(strips, CHAINS), 256>>>(d_theta, d_grad, d_noise, d_second, d_rate, d_theta_out,
            d_second_out);
}

int main() {
    std::vector<float> host_theta(CHAINS * DIM);
    std::vector<float> host_grad(CHAINS * DIM);
    std::vector<float> host_noise(CHAINS * DIM);
    std::vector<float> host_second(CHAINS * DIM);
    std::vector<float> host_rate(CHAINS);
    std::vector<float> host_theta_out(CHAINS * DIM);
    std::vector<float> host_second_out(CHAINS * DIM);
    std::ifstream theta_in("data/theta.bin", std::ios::binary);
    theta_in.read(reinterpret_cast<char*>(host_theta.data()), CHAINS * DIM * sizeof(float));
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read(reinterpret_cast<char*>(host_grad.data()), CHAINS * DIM * sizeof(float));
    std::ifstream noise_in("data/noise.bin", std::ios::binary);
    noise_in.read(reinterpret_cast<char*>(host_noise.data()), CHAINS * DIM * sizeof(float));
    std::ifstream second_in("data/second.bin", std::ios::binary);
    second_in.read(reinterpret_cast<char*>(host_second.data()), CHAINS * DIM * sizeof(float));
    std::ifstream rate_in("data/rate.bin", std::ios::binary);
    rate_in.read(reinterpret_cast<char*>(host_rate.data()), CHAINS * sizeof(float));
    if (!theta_in || !grad_in || !noise_in || !second_in || !rate_in) {
        std::cerr << "input error" << std::endl;
        return 1;
    }

    float* d_theta = nullptr;
    float* d_grad = nullptr;
    float* d_noise = nullptr;
    float* d_second = nullptr;
    float* d_rate = nullptr;
    float* d_theta_out = nullptr;
    float* d_second_out = nullptr;
    cudaMalloc(&d_theta, CHAINS * DIM * sizeof(float));
    cudaMalloc(&d_grad, CHAINS * DIM * sizeof(float));
    cudaMalloc(&d_noise, CHAINS * DIM * sizeof(float));
    cudaMalloc(&d_second, CHAINS * DIM * sizeof(float));
    cudaMalloc(&d_rate, CHAINS * sizeof(float));
    cudaMalloc(&d_theta_out, CHAINS * DIM * sizeof(float));
    cudaMalloc(&d_second_out, CHAINS * DIM * sizeof(float));
    cudaMemcpy(d_theta, host_theta.data(), CHAINS * DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, host_grad.data(), CHAINS * DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_noise, host_noise.data(), CHAINS * DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, host_second.data(), CHAINS * DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, host_rate.data(), CHAINS * sizeof(float), cudaMemcpyHostToDevice);

    launch(d_theta, d_grad, d_noise, d_second, d_rate, d_theta_out, d_second_out);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch failed" << std::endl;
        return 1;
    }

    cudaMemcpy(host_theta_out.data(), d_theta_out, CHAINS * DIM * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_second_out.data(), d_second_out, CHAINS * DIM * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream theta_out_out("data/theta_out.bin", std::ios::binary);
    theta_out_out.write(reinterpret_cast<const char*>(host_theta_out.data()), CHAINS * DIM * sizeof(float));
    std::ofstream second_out_out("data/second_out.bin", std::ios::binary);
    second_out_out.write(reinterpret_cast<const char*>(host_second_out.data()), CHAINS * DIM * sizeof(float));
    cudaFree(d_theta);
    cudaFree(d_grad);
    cudaFree(d_noise);
    cudaFree(d_second);
    cudaFree(d_rate);
    cudaFree(d_theta_out);
    cudaFree(d_second_out);
    return 0;
}
