#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << std::endl;
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream in(path, std::ios::binary);
    in.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kN = 12345;

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

__device__ float term(float p, float t, float w) {
    const float r = p - t;
    return w * (1.0f - 2.25f / fmaf(r, r, 2.25f));
}

__global__ void partial_losses(const float* __restrict__ pred, const float* __restrict__ target,
                               const float* __restrict__ weight, float* __restrict__ partial) {
    __shared__ float warps[8];
    const int step = gridDim.x * blockDim.x;
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int q = tid; q < kN / 4; q += step) {
        const float4 p = reinterpret_cast<const float4*>(pred)[q];
        const float4 t = reinterpret_cast<const float4*>(target)[q];
        const float4 w = reinterpret_cast<const float4*>(weight)[q];
        sum += term(p.x, t.x, w.x) + term(p.y, t.y, w.y) + term(p.z, t.z, w.z) + term(p.w, t.w, w.w);
    }
    const int tail = kN / 4 * 4 + tid;
    if (tail < kN) sum += term(pred[tail], target[tail], weight[tail]);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int k = 0; k < 8; ++k) total += warps[k];
        partial[blockIdx.x] = total;
    }
}

__global__ void finish(const float* partial, float* loss, int blocks) {
    double sum = 0.0;
    for (int b = 0; b < blocks; ++b) sum += partial[b];
    *loss = (float)(sum / kN);
}

int main() {
    auto hPred = load_file<float>("data/pred.bin", kN);
    auto hTarget = load_file<float>("data/target.bin", kN);
    auto hWeight = load_file<float>("data/weight.bin", kN);
    std::vector<float> hLoss(1);

    float* d_pred;
    cudaMalloc(&d_pred, kN * sizeof(float));
    float* d_target;
    cudaMalloc(&d_target, kN * sizeof(float));
    float* d_weight;
    cudaMalloc(&d_weight, kN * sizeof(float));
    float* d_loss;
    cudaMalloc(&d_loss, sizeof(float));
    float* d_partial;
    cudaMalloc(&d_partial, 512 * sizeof(float));
    cudaMemcpy(d_pred, hPred.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, hTarget.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, hWeight.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

    partial_losses<<<512, 256>>>(d_pred, d_target, d_weight, d_partial);
    finish<<<1, 1>>>(d_partial, d_loss, 512);

    const auto rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }
    cudaMemcpy(hLoss.data(), d_loss, sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/loss.bin", hLoss);
    cudaFree(d_pred);
    cudaFree(d_target);
    cudaFree(d_weight);
    cudaFree(d_loss);
    cudaFree(d_partial);
}
