#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int STRIKES = 80;
constexpr int EXPIRIES = 70;
constexpr int STRIP = 16;
const size_t len = (size_t)STRIKES * EXPIRIES;

// A thread stays on one expiry, whose two exponentials are computed once, and walks over sixteen strikes.
__global__ void parity_strips(const float* __restrict__ call, const float* __restrict__ put,
                              const float* __restrict__ strike, const float* __restrict__ expiry,
                              float* __restrict__ gap, int* __restrict__ side, float* __restrict__ profit) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= EXPIRIES) return;
    const float t = expiry[e];
    const float spot = 100.0f * expf(-0.01f * t);
    const float bond = expf(-0.03f * t);
    const int first = blockIdx.y * STRIP;
    const int last = min(first + STRIP, STRIKES);
    for (int r = first; r < last; ++r) {
        const int i = r * EXPIRIES + e;
        const float g = call[i] - put[i] - (spot - strike[r] * bond);
        const float over = fabsf(g) - 0.25f;
        gap[i] = g;
        side[i] = over > 0.0f ? (g > 0.0f ? 1 : -1) : 0;
        profit[i] = fmaxf(over, 0.0f);
    }
}

void solve(const float* d_call, const float* d_put, const float* d_strike, const float* d_expiry, float* d_gap,
           int* d_side, float* d_profit) {
    dim3 grid((EXPIRIES + 127) / 128, (STRIKES + STRIP - 1) / STRIP);
    parity_strips<<<grid, 128>>>(d_call, d_put, d_strike, d_expiry, d_gap, d_side, d_profit);
}

int main() {
    std::vector<float> h_call(len);
    std::vector<float> h_put(len);
    std::vector<float> h_strike(STRIKES);
    std::vector<float> h_expiry(EXPIRIES);
    std::vector<float> h_gap(len);
    std::vector<int> h_side(len);
    std::vector<float> h_profit(len);
    std::ifstream call_stream("data/call.bin", std::ios::binary);
    if (!call_stream.read((char*)h_call.data(), len * sizeof(float))) {
        std::cerr << "missing data/call.bin\n";
        return 1;
    }
    std::ifstream put_stream("data/put.bin", std::ios::binary);
    if (!put_stream.read((char*)h_put.data(), len * sizeof(float))) {
        std::cerr << "missing data/put.bin\n";
        return 1;
    }
    std::ifstream strike_stream("data/strike.bin", std::ios::binary);
    if (!strike_stream.read((char*)h_strike.data(), STRIKES * sizeof(float))) {
        std::cerr << "missing data/strike.bin\n";
        return 1;
    }
    std::ifstream expiry_stream("data/expiry.bin", std::ios::binary);
    if (!expiry_stream.read((char*)h_expiry.data(), EXPIRIES * sizeof(float))) {
        std::cerr << "missing data/expiry.bin\n";
        return 1;
    }

    float* d_call = nullptr;
    cudaMalloc(&d_call, len * sizeof(float));
    cudaMemcpy(d_call, h_call.data(), len * sizeof(float), cudaMemcpyHostToDevice);
    float* d_put = nullptr;
    cudaMalloc(&d_put, len * sizeof(float));
    cudaMemcpy(d_put, h_put.data(), len * sizeof(float), cudaMemcpyHostToDevice);
    float* d_strike = nullptr;
    cudaMalloc(&d_strike, STRIKES * sizeof(float));
    cudaMemcpy(d_strike, h_strike.data(), STRIKES * sizeof(float), cudaMemcpyHostToDevice);
    float* d_expiry = nullptr;
    cudaMalloc(&d_expiry, EXPIRIES * sizeof(float));
    cudaMemcpy(d_expiry, h_expiry.data(), EXPIRIES * sizeof(float), cudaMemcpyHostToDevice);
    float* d_gap = nullptr;
    cudaMalloc(&d_gap, len * sizeof(float));
    int* d_side = nullptr;
    cudaMalloc(&d_side, len * sizeof(int));
    float* d_profit = nullptr;
    cudaMalloc(&d_profit, len * sizeof(float));

    solve(d_call, d_put, d_strike, d_expiry, d_gap, d_side, d_profit);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_gap.data(), d_gap, len * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_side.data(), d_side, len * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_profit.data(), d_profit, len * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/gap.bin", std::ios::binary).write((char*)h_gap.data(), len * sizeof(float));
    std::ofstream("data/side.bin", std::ios::binary).write((char*)h_side.data(), len * sizeof(int));
    std::ofstream("data/profit.bin", std::ios::binary).write((char*)h_profit.data(), len * sizeof(float));
    cudaFree(d_call);
    cudaFree(d_put);
    cudaFree(d_strike);
    cudaFree(d_expiry);
    cudaFree(d_gap);
    cudaFree(d_side);
    cudaFree(d_profit);
    return 0;
}
