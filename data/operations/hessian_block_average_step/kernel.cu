#include <cuda_runtime.h>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t n) {
    std::vector<T> data(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data.data()), n * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << std::endl;
        std::exit(1);
    }
    return data;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& data) {
    std::ofstream in(path, std::ios::binary);
    in.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

const int kBlocks = 500;
const int kWidth = 20;
const int kTotal = kBlocks * kWidth;

// The rows of a thread block are staged through shared memory, so that global accesses are in order.
constexpr int kRowsPerBlock = 64;

__global__ void block_step_shared(const float* __restrict__ param, const float* __restrict__ grad,
                                  const float* __restrict__ diag, const float* __restrict__ moment,
                                  float* __restrict__ param_out, float* __restrict__ moment_out) {
    __shared__ float mag[kRowsPerBlock * kWidth];
    __shared__ float scale[kRowsPerBlock];
    const int row0 = blockIdx.x * kRowsPerBlock;
    const int rows = min(kRowsPerBlock, kBlocks - row0);
    const size_t base = (size_t)row0 * kWidth;
    for (int i = threadIdx.x; i < rows * kWidth; i += blockDim.x) mag[i] = fabsf(diag[base + i]);
    __syncthreads();
    if (threadIdx.x < rows) {
        float h = 0.0f;
        for (int k = 0; k < kWidth; ++k) h += mag[threadIdx.x * kWidth + k];
        h *= 1.0f / kWidth;
        const float m = 0.9f * moment[row0 + threadIdx.x] + 0.1f * h * h;
        moment_out[row0 + threadIdx.x] = m;
        scale[threadIdx.x] = 0.15f / (sqrtf(m) + 0.0001f);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * kWidth; i += blockDim.x) {
        param_out[base + i] = param[base + i] - scale[i / kWidth] * grad[base + i];
    }
}

int main() {
    const auto host_param = load_vector<float>("data/param.bin", kTotal);
    const auto host_grad = load_vector<float>("data/grad.bin", kTotal);
    const auto host_diag = load_vector<float>("data/diag.bin", kTotal);
    const auto host_moment = load_vector<float>("data/moment.bin", kBlocks);
    std::vector<float> host_param_out(kTotal);
    std::vector<float> host_moment_out(kBlocks);

    float* d_param = nullptr;
    float* d_grad = nullptr;
    float* d_diag = nullptr;
    float* d_moment = nullptr;
    float* d_param_out = nullptr;
    float* d_moment_out = nullptr;
    cudaMalloc(&d_param, kTotal * sizeof(float));
    cudaMalloc(&d_grad, kTotal * sizeof(float));
    cudaMalloc(&d_diag, kTotal * sizeof(float));
    cudaMalloc(&d_moment, kBlocks * sizeof(float));
    cudaMalloc(&d_param_out, kTotal * sizeof(float));
    cudaMalloc(&d_moment_out, kBlocks * sizeof(float));
    cudaMemcpy(d_param, host_param.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, host_grad.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_diag, host_diag.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, host_moment.data(), kBlocks * sizeof(float), cudaMemcpyHostToDevice);

    block_step_shared<<<(kBlocks + kRowsPerBlock - 1) / kRowsPerBlock, 256>>>(d_param, d_grad, d_diag,
            d_moment, d_param_out, d_moment_out);

    if (auto status = cudaDeviceSynchronize(); status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(host_param_out.data(), d_param_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_moment_out.data(), d_moment_out, kBlocks * sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/param_out.bin", host_param_out);
    store_vector("data/moment_out.bin", host_moment_out);

    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_diag);
    cudaFree(d_moment);
    cudaFree(d_param_out);
    cudaFree(d_moment_out);
    return 0;
}
