#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kBatch = 20;
constexpr int kN = 300;
constexpr int kRank = 4;
constexpr int kBlock = 128;

// Block (b, k) computes one number z[b][k].
__global__ void project(const float* v, const float* x, float* z) {
    __shared__ float sums[kBlock];
    int b = blockIdx.x, k = blockIdx.y, t = threadIdx.x;
    float sum = 0.0f;
    for (int j = t; j < kN; j += kBlock) sum += v[j * kRank + k] * x[b * kN + j];
    sums[t] = sum;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) z[b * kRank + k] = sums[0];
}

__global__ void expand(const float* d, const float* u, const float* x, const float* z, float* y) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= kBatch * kN) return;
    int b = idx / kN, i = idx % kN;
    float sum = d[i] * x[idx];
    for (int k = 0; k < kRank; ++k) sum += u[i * kRank + k] * z[b * kRank + k];
    y[idx] = sum;
}

int main() {
    const size_t count_u = (size_t)kN * kRank;
    const size_t count_x = (size_t)kBatch * kN;
    std::vector<float> h_d(kN), h_u(count_u), h_v(count_u), h_x(count_x), h_y(count_x);

    std::ifstream d_file("data/d.bin", std::ios::binary);
    d_file.read(reinterpret_cast<char*>(h_d.data()), kN * sizeof(float));
    if (!d_file) {
        std::cerr << "cannot read data/d.bin" << std::endl;
        return 1;
    }
    std::ifstream in_u("data/u.bin", std::ios::binary);
    in_u.read(reinterpret_cast<char*>(h_u.data()), count_u * sizeof(float));
    if (!in_u) {
        std::cerr << "failed to load data/u.bin" << std::endl;
        return 1;
    }
    std::ifstream in_v("data/v.bin", std::ios::binary);
    in_v.read(reinterpret_cast<char*>(h_v.data()), count_u * sizeof(float));
    if (!in_v) {
        std::cerr << "could not read data/v.bin" << std::endl;
        return 1;
    }
    std::ifstream f_x("data/x.bin", std::ios::binary);
    f_x.read(reinterpret_cast<char*>(h_x.data()), count_x * sizeof(float));
    if (!f_x) {
        std::cerr << "could not read data/x.bin" << std::endl;
        return 1;
    }

    float *d_d, *d_u, *d_v, *d_x, *d_y, *d_z;
    cudaMalloc(&d_d, kN * sizeof(float));
    cudaMemcpy(d_d, h_d.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_u, count_u * sizeof(float));
    cudaMemcpy(d_u, h_u.data(), count_u * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_v, count_u * sizeof(float));
    cudaMemcpy(d_v, h_v.data(), count_u * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, count_x * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), count_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, count_x * sizeof(float));
    cudaMalloc(&d_z, sizeof(float) * kBatch * kRank);

    project<<<dim3(kBatch, kRank), kBlock>>>(d_v, d_x, d_z);
    expand<<<(kBatch * kN + 255) / 256, 256>>>(d_d, d_u, d_x, d_z, d_y);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, count_x * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream y_out("data/y.bin", std::ios::binary);
    y_out.write(reinterpret_cast<const char*>(h_y.data()), count_x * sizeof(float));

    cudaFree(d_d);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_z);
    return 0;
}
