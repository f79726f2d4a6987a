#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int SAMPLES = 600;
const int OUTPUTS = 12;

__device__ float2 block_sum(float2 v) {
    __shared__ float2 warps[8];
    for (int d = 16; d > 0; d /= 2) {
        v.x += __shfl_down_sync(0xffffffffu, v.x, d);
        v.y += __shfl_down_sync(0xffffffffu, v.y, d);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    float2 total = make_float2(0.0f, 0.0f);
    for (int k = 0; k < 8; ++k) {
        total.x += warps[k].x;
        total.y += warps[k].y;
    }
    return total;
}

// Element-parallel, so neighbouring threads read neighbouring addresses; the weight counts once per sample.
__global__ void fair_partials(const float* __restrict__ pred, const float* __restrict__ target,
                              const float* __restrict__ weight, float2* __restrict__ partial) {
    float2 v = make_float2(0.0f, 0.0f);
    for (int i = blockIdx.x * 256 + threadIdx.x; i < SAMPLES * OUTPUTS; i += gridDim.x * 256) {
        const int row = i / OUTPUTS;
        const float w = weight[row];
        if (i == row * OUTPUTS) v.y += w;
        const float a = fabsf(pred[i] - target[i]) * (1.0f / 1.3998f);
        v.x += w * (a - log1pf(a));
    }
    v = block_sum(v);
    if (threadIdx.x == 0) partial[blockIdx.x] = v;
}

__global__ void fair_finish(const float2* partial, float* loss, int count) {
    float2 v = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < count; i += 256) {
        v.x += partial[i].x;
        v.y += partial[i].y;
    }
    v = block_sum(v);
    if (threadIdx.x == 0) *loss = 1.3998f * 1.3998f * v.x / v.y;
}

void launch(const float* d_pred, const float* d_target, const float* d_weight, float* d_loss,
            float* d_partial) {
    fair_partials<<<512, 256>>>(d_pred, d_target, d_weight, (float2*)d_partial);
    fair_finish<<<1, 256>>>((const float2*)d_partial, d_loss, 512);
}

int main() {
    std::vector<float> host_pred(SAMPLES * OUTPUTS);
    std::vector<float> host_target(SAMPLES * OUTPUTS);
    std::vector<float> host_weight(SAMPLES);
    std::vector<float> host_loss(1);
    std::ifstream pred_in("data/pred.bin", std::ios::binary);
    pred_in.read(reinterpret_cast<char*>(host_pred.data()), SAMPLES * OUTPUTS * sizeof(float));
    std::ifstream target_in("data/target.bin", std::ios::binary);
    target_in.read(reinterpret_cast<char*>(host_target.data()), SAMPLES * OUTPUTS * sizeof(float));
    std::ifstream weight_in("data/weight.bin", std::ios::binary);
    weight_in.read(reinterpret_cast<char*>(host_weight.data()), SAMPLES * sizeof(float));
    if (!pred_in || !target_in || !weight_in) {
        std::cerr << "missing or short input file" << std::endl;
        return 1;
    }

    float *d_pred, *d_target, *d_weight, *d_loss, *d_partial;
    cudaMalloc(&d_pred, SAMPLES * OUTPUTS * sizeof(float));
    cudaMalloc(&d_target, SAMPLES * OUTPUTS * sizeof(float));
    cudaMalloc(&d_weight, SAMPLES * sizeof(float));
    cudaMalloc(&d_loss, sizeof(float));
    cudaMalloc(&d_partial, 1024 * sizeof(float));
    cudaMemcpy(d_pred, host_pred.data(), SAMPLES * OUTPUTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, host_target.data(), SAMPLES * OUTPUTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, host_weight.data(), SAMPLES * sizeof(float), cudaMemcpyHostToDevice);

    launch(d_pred, d_target, d_weight, d_loss, d_partial);
    cudaDeviceSynchronize();

    cudaMemcpy(host_loss.data(), d_loss, sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream loss_out("data/loss.bin", std::ios::binary);
    loss_out.write(reinterpret_cast<const char*>(host_loss.data()), sizeof(float));
    cudaFree(d_pred);
    cudaFree(d_target);
    cudaFree(d_weight);
    cudaFree(d_loss);
    cudaFree(d_partial);
    return 0;
}
