#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int ROWS = 40;
constexpr int COLS = 700;
constexpr int BLOCK = 256;

__global__ void cubic_norm(const float* __restrict__ x, float* __restrict__ norm, float* __restrict__ peak) {
    __shared__ float2 perWarp[BLOCK / 32];
    const float* row = x + (size_t)blockIdx.x * COLS;
    float sum = 0.0f, top = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) {
        float a = fabsf(row[c]);
        sum = fmaf(a * a, a, sum);
        top = fmaxf(top, a);
    }
    for (int s = 16; s > 0; s >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, s);
        top = fmaxf(top, __shfl_down_sync(0xffffffffu, top, s));
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) perWarp[warp] = make_float2(sum, top);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) {
            sum += perWarp[w].x;
            top = fmaxf(top, perWarp[w].y);
        }
        norm[blockIdx.x] = cbrtf(sum);
        peak[blockIdx.x] = top;
    }
}

void solve(const float* dev_x, float* dev_norm, float* dev_peak) {
    cubic_norm<<<ROWS, BLOCK>>>(dev_x, dev_norm, dev_peak);
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    std::vector<float> host_x(elements);
    std::vector<float> host_norm(ROWS);
    std::vector<float> host_peak(ROWS);
    std::ifstream in("data/x.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(host_x.data()), elements * sizeof(float))) {
        std::cerr << "no data/x.bin\n";
        return 1;
    }

    float* dev_x = nullptr;
    float* dev_norm = nullptr;
    float* dev_peak = nullptr;
    cudaMalloc(&dev_x, elements * sizeof(float));
    cudaMalloc(&dev_norm, ROWS * sizeof(float));
    cudaMalloc(&dev_peak, ROWS * sizeof(float));
    cudaMemcpy(dev_x, host_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    solve(dev_x, dev_norm, dev_peak);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(host_norm.data(), dev_norm, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_peak.data(), dev_peak, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_norm("data/norm.bin", std::ios::binary);
    out_norm.write(reinterpret_cast<const char*>(host_norm.data()), ROWS * sizeof(float));
    std::ofstream out_peak("data/peak.bin", std::ios::binary);
    out_peak.write(reinterpret_cast<const char*>(host_peak.data()), ROWS * sizeof(float));
    cudaFree(dev_x);
    cudaFree(dev_norm);
    cudaFree(dev_peak);
    return 0;
}
