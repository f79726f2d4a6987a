#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 120;
const int BINS = 128;

// p^a q^(1-a) = q * 2^(a log2(p/q)); a warp handles one row.
__global__ void renyi_warp(const float* __restrict__ p, const float* __restrict__ q,
                           const float* __restrict__ order, float* __restrict__ divergence) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= ROWS) return;
    const float a = order[row];
    const bool limit = a == 1.0f;
    const float* x = p + (size_t)row * BINS;
    const float* y = q + (size_t)row * BINS;
    float sum = 0.0f;
    for (int k = lane; k < BINS; k += 32) {
        if (x[k] <= 0.0f) continue;
        const float l = log2f(x[k] / y[k]);
        sum += limit ? x[k] * l : y[k] * exp2f(a * l);
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) divergence[row] = limit ? sum * 0.69314718f : logf(sum) / (a - 1.0f);
}

void solve(const float* d_p, const float* d_q, const float* d_order, float* d_divergence) {
    renyi_warp<<<(ROWS + 7) / 8, 256>>>(d_p, d_q, d_order, d_divergence);
}

int main() {
    std::vector<float> host_p(ROWS * BINS), host_q(ROWS * BINS), host_order(ROWS), host_divergence(ROWS);
    std::ifstream p_in("data/p.bin", std::ios::binary);
    p_in.read(reinterpret_cast<char*>(host_p.data()), ROWS * BINS * sizeof(float));
    std::ifstream q_in("data/q.bin", std::ios::binary);
    q_in.read(reinterpret_cast<char*>(host_q.data()), ROWS * BINS * sizeof(float));
    std::ifstream order_in("data/order.bin", std::ios::binary);
    order_in.read(reinterpret_cast<char*>(host_order.data()), ROWS * sizeof(float));
    if (!p_in || !q_in || !order_in) {
        std::cerr << "cannot read the inputs" << std::endl;
        return 1;
    }

    float* d_p = nullptr;
    float* d_q = nullptr;
    float* d_order = nullptr;
    float* d_divergence = nullptr;
    cudaMalloc(&d_p, ROWS * BINS * sizeof(float));
    cudaMalloc(&d_q, ROWS * BINS * sizeof(float));
    cudaMalloc(&d_order, ROWS * sizeof(float));
    cudaMalloc(&d_divergence, ROWS * sizeof(float));
    cudaMemcpy(d_p, host_p.data(), ROWS * BINS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_q, host_q.data(), ROWS * BINS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_order, host_order.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_p, d_q, d_order, d_divergence);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch failed" << std::endl;
        return 1;
    }

    cudaMemcpy(host_divergence.data(), d_divergence, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream divergence_out("data/divergence.bin", std::ios::binary);
    divergence_out.write(reinterpret_cast<const char*>(host_divergence.data()), ROWS * sizeof(float));

    cudaFree(d_p);
    cudaFree(d_q);
    cudaFree(d_order);
    cudaFree(d_divergence);
    return 0;
}
