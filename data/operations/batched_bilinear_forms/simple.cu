#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kBatch = 20;
constexpr int kM = 30;
constexpr int kN = 40;
constexpr int kThreads = 256;

__global__ void bilinear_form(const float* x, const float* a, const float* y, float* form) {
    __shared__ float sums[kThreads];
    int b = blockIdx.x;
    int t = threadIdx.x;
    const float* matrix = a + (size_t)b * kM * kN;
    float acc = 0.0f;
    for (int e = t; e < kM * kN; e += kThreads) {
        acc += x[b * kM + e / kN] * matrix[e] * y[b * kN + e % kN];
    }
    sums[t] = acc;
    __syncthreads();
    for (int stride = kThreads / 2; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) form[b] = sums[0];
}

int main() {
    const size_t n_x = (size_t)kBatch * kM;
    const size_t n_a = (size_t)kBatch * kM * kN;
    const size_t n_y = (size_t)kBatch * kN;
    std::vector<float> h_x(n_x), h_a(n_a), h_y(n_y), h_form(kBatch);
    std::ifstream f_x("data/x.bin", std::ios::binary);
    f_x.read(reinterpret_cast<char*>(h_x.data()), n_x * sizeof(float));
    if (!f_x) {
        std::cerr << "cannot read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream f_a("data/a.bin", std::ios::binary);
    f_a.read(reinterpret_cast<char*>(h_a.data()), n_a * sizeof(float));
    if (!f_a) {
        std::cerr << "failed to load data/a.bin" << std::endl;
        return 1;
    }
    std::ifstream y_file("data/y.bin", std::ios::binary);
    y_file.read(reinterpret_cast<char*>(h_y.data()), n_y * sizeof(float));
    if (!y_file) {
        std::cerr << "could not read data/y.bin" << std::endl;
        return 1;
    }

    float *d_x, *d_a, *d_y, *d_form;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_y, n_y * sizeof(float));
    cudaMalloc(&d_form, kBatch * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, h_y.data(), n_y * sizeof(float), cudaMemcpyHostToDevice);

    bilinear_form<<<kBatch, kThreads>>>(d_x, d_a, d_y, d_form);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_form.data(), d_form, kBatch * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream form_out("data/form.bin", std::ios::binary);
    form_out.write(reinterpret_cast<const char*>(h_form.data()), kBatch * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_a);
    cudaFree(d_y);
    cudaFree(d_form);
    return 0;
}
