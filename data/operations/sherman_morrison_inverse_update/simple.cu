#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 100;

// Thread i computes one entry of B u and one of v^T B.
__global__ void products(const float* inv, const float* u, const float* v, float* p, float* g) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float a = 0.0f, b = 0.0f;
    for (int k = 0; k < kN; ++k) {
        a += inv[i * kN + k] * u[k];
        b += v[k] * inv[k * kN + i];
    }
    p[i] = a;
    g[i] = b;
}

__global__ void compute_denominator(const float* p, const float* v, float* denominator) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < kN; i += 256) sum += v[i] * p[i];
    sums[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) denominator[0] = 1.0f + sums[0];
}

__global__ void subtract(const float* inv, const float* p, const float* g, const float* denominator, float* updated) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < kN * kN) updated[idx] = inv[idx] - p[idx / kN] * g[idx % kN] / denominator[0];
}

int main() {
    const size_t n_inv = (size_t)kN * kN;
    std::vector<float> h_inv(n_inv), h_u(kN), h_v(kN), h_updated(n_inv), h_denominator(1);
    std::ifstream inv_file("data/inv.bin", std::ios::binary);
    inv_file.read(reinterpret_cast<char*>(h_inv.data()), n_inv * sizeof(float));
    if (!inv_file) {
        std::cerr << "could not read data/inv.bin" << std::endl;
        return 1;
    }
    std::ifstream u_file("data/u.bin", std::ios::binary);
    u_file.read(reinterpret_cast<char*>(h_u.data()), kN * sizeof(float));
    if (!u_file) {
        std::cerr << "cannot read data/u.bin" << std::endl;
        return 1;
    }
    std::ifstream f_v("data/v.bin", std::ios::binary);
    f_v.read(reinterpret_cast<char*>(h_v.data()), kN * sizeof(float));
    if (!f_v) {
        std::cerr << "cannot read data/v.bin" << std::endl;
        return 1;
    }

    float *d_inv, *d_u, *d_v, *d_updated, *d_denominator, *d_p, *d_g;
    cudaMalloc(&d_inv, n_inv * sizeof(float));
    cudaMalloc(&d_u, kN * sizeof(float));
    cudaMalloc(&d_v, kN * sizeof(float));
    cudaMalloc(&d_updated, n_inv * sizeof(float));
    cudaMalloc(&d_denominator, 1 * sizeof(float));
    cudaMalloc(&d_p, kN * sizeof(float));
    cudaMalloc(&d_g, kN * sizeof(float));
    cudaMemcpy(d_inv, h_inv.data(), n_inv * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, h_u.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

    products<<<(kN + 127) / 128, 128>>>(d_inv, d_u, d_v, d_p, d_g);
    compute_denominator<<<1, 256>>>(d_p, d_v, d_denominator);
    subtract<<<(kN * kN + 255) / 256, 256>>>(d_inv, d_p, d_g, d_denominator, d_updated);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_updated.data(), d_updated, n_inv * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_denominator.data(), d_denominator, 1 * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream updated_out("data/updated.bin", std::ios::binary);
    updated_out.write(reinterpret_cast<const char*>(h_updated.data()), n_inv * sizeof(float));
    std::ofstream denominator_out("data/denominator.bin", std::ios::binary);
    denominator_out.write(reinterpret_cast<const char*>(h_denominator.data()), 1 * sizeof(float));

    cudaFree(d_inv);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_updated);
    cudaFree(d_denominator);
    cudaFree(d_p);
    cudaFree(d_g);
    return 0;
}
