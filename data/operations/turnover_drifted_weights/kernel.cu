#include <cuda_runtime.h>
#include <fstream>
#include <vector>

#define DAYS 120
#define ASSETS 200
#define BLOCK 256
#define WARPS (BLOCK / 32)

__device__ float block_total(float v, float* slots) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(0xffffffffu, v, s);
    __syncthreads();
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < WARPS; ++w) total += slots[w];
    return total;
}

// The drifted holdings stay in shared memory between the two passes, so every input is read once.
__global__ void daily_turnover_cached(const float* __restrict__ weight, const float* __restrict__ asset_return,
                                      float* __restrict__ turnover, float* __restrict__ net_return) {
    __shared__ float grown[ASSETS];
    __shared__ float slots[WARPS];
    const int t = blockIdx.x;
    const size_t row = (size_t)t * ASSETS;
    float sum = 0.0f;
    for (int a = threadIdx.x; a < ASSETS; a += BLOCK) {
        float held = 0.0f;
        if (t > 0) {
            const float w = weight[row - ASSETS + a];
            held = fmaf(w, asset_return[row + a], w);
        }
        grown[a] = held;
        sum += held;
    }
    const float g = t > 0 ? block_total(sum, slots) : 1.0f;
    const float scale = 1.0f / g;
    float moved = 0.0f;
    for (int a = threadIdx.x; a < ASSETS; a += BLOCK) moved += fabsf(weight[row + a] - scale * grown[a]);
    moved = 0.5f * block_total(moved, slots);
    if (threadIdx.x == 0) {
        turnover[t] = moved;
        net_return[t] = g - 1.0f - 0.002f * moved;
    }
}

int main() {
    const size_t num = (size_t)DAYS * ASSETS;
    std::vector<float> weight(num), asset_return(num), turnover(DAYS), net_return(DAYS);
    std::ifstream f_weight("data/weight.bin", std::ios::binary);
    if (!f_weight.read((char*)weight.data(), num * sizeof(float))) return 1;
    std::ifstream f_asset_return("data/asset_return.bin", std::ios::binary);
    if (!f_asset_return.read((char*)asset_return.data(), num * sizeof(float))) return 1;
    float* d_weight = nullptr;
    cudaMalloc(&d_weight, num * sizeof(float));
    cudaMemcpy(d_weight, weight.data(), num * sizeof(float), cudaMemcpyHostToDevice);
    float* d_asset_return = nullptr;
    cudaMalloc(&d_asset_return, num * sizeof(float));
    cudaMemcpy(d_asset_return, asset_return.data(), num * sizeof(float), cudaMemcpyHostToDevice);
    float* d_turnover = nullptr;
    cudaMalloc(&d_turnover, DAYS * sizeof(float));
    float* d_net_return = nullptr;
    cudaMalloc(&d_net_return, DAYS * sizeof(float));
    daily_turnover_cached<<<DAYS, BLOCK>>>(d_weight, d_asset_return, d_turnover, d_net_return);
    cudaMemcpy(turnover.data(), d_turnover, DAYS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(net_return.data(), d_net_return, DAYS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/turnover.bin", std::ios::binary).write((char*)turnover.data(), DAYS * sizeof(float));
    std::ofstream("data/net_return.bin", std::ios::binary).write((char*)net_return.data(), DAYS * sizeof(float));
    return 0;
}
