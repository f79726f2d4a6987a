#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_values(const std::string& path, float* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(float));
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

void write_values(const std::string& path, const float* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int kDays = 120;
constexpr int kAssets = 200;
constexpr int kBlock = 256;

__device__ float block_total(float v) {
    __shared__ float part[kBlock];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    float result = part[0];
    __syncthreads();
    return result;
}

__global__ void daily_turnover(const float* weight, const float* asset_return, float* turnover,
                               float* net_return) {
    int t = blockIdx.x;
    const float* now = weight + (size_t)t * kAssets;
    const float* before = now - kAssets;
    const float* r = asset_return + (size_t)t * kAssets;
    float sum = 0.0f;
    if (t > 0) {
        for (int a = threadIdx.x; a < kAssets; a += kBlock) sum += before[a] * (1.0f + r[a]);
    }
    float g = block_total(sum);
    if (t == 0) g = 1.0f;
    float moved = 0.0f;
    for (int a = threadIdx.x; a < kAssets; a += kBlock) {
        float held = t > 0 ? before[a] * (1.0f + r[a]) / g : 0.0f;
        moved += fabsf(now[a] - held);
    }
    moved = 0.5f * block_total(moved);
    if (threadIdx.x == 0) {
        turnover[t] = moved;
        net_return[t] = g - 1.0f - 0.002f * moved;
    }
}

int main() {
    size_t count = (size_t)kDays * kAssets;
    float* h_weight = new float[count];
    float* h_asset_return = new float[count];
    float* h_turnover = new float[kDays];
    float* h_net_return = new float[kDays];
    read_values("data/weight.bin", h_weight, count);
    read_values("data/asset_return.bin", h_asset_return, count);

    float* d_weight;
    float* d_asset_return;
    float* d_turnover;
    float* d_net_return;
    cudaMalloc(&d_weight, count * sizeof(float));
    cudaMalloc(&d_asset_return, count * sizeof(float));
    cudaMalloc(&d_turnover, kDays * sizeof(float));
    cudaMalloc(&d_net_return, kDays * sizeof(float));
    cudaMemcpy(d_weight, h_weight, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_asset_return, h_asset_return, count * sizeof(float), cudaMemcpyHostToDevice);

    daily_turnover<<<kDays, kBlock>>>(d_weight, d_asset_return, d_turnover, d_net_return);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << '\n';
        return 1;
    }
    cudaMemcpy(h_turnover, d_turnover, kDays * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_net_return, d_net_return, kDays * sizeof(float), cudaMemcpyDeviceToHost);
    write_values("data/turnover.bin", h_turnover, kDays);
    write_values("data/net_return.bin", h_net_return, kDays);

    cudaFree(d_weight);
    cudaFree(d_asset_return);
    cudaFree(d_turnover);
    cudaFree(d_net_return);
    delete[] h_weight;
    delete[] h_asset_return;
    delete[] h_turnover;
    delete[] h_net_return;
    return 0;
}
