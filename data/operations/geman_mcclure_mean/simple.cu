#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 12345;

__global__ void geman_mcclure(const float* pred, const float* target, const float* weight, float* loss, int n) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float r = pred[i] - target[i];
        float r2 = r * r;
        sum += weight[i] * r2 / (r2 + 2.25f);
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(loss, part[0] / n);
}

int main() {
    std::vector<float> h_pred(N), h_target(N), h_weight(N), h_loss(1);
    std::ifstream in_pred("data/pred.bin", std::ios::binary);
    in_pred.read(reinterpret_cast<char*>(h_pred.data()), N * sizeof(float));
    std::ifstream in_target("data/target.bin", std::ios::binary);
    in_target.read(reinterpret_cast<char*>(h_target.data()), N * sizeof(float));
    std::ifstream in_weight("data/weight.bin", std::ios::binary);
    in_weight.read(reinterpret_cast<char*>(h_weight.data()), N * sizeof(float));
    if (!in_pred || !in_target || !in_weight) {
        std::cerr << "input files are missing or too short\n";
        return 1;
    }

    float *d_pred, *d_target, *d_weight, *d_loss;
    cudaMalloc(&d_pred, N * sizeof(float));
    cudaMalloc(&d_target, N * sizeof(float));
    cudaMalloc(&d_weight, N * sizeof(float));
    cudaMalloc(&d_loss, sizeof(float));
    cudaMemcpy(d_pred, h_pred.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, h_target.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_loss, 0, sizeof(float));

    geman_mcclure<<<256, 256>>>(d_pred, d_target, d_weight, d_loss, N);

    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_loss.data(), d_loss, sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream out_loss("data/loss.bin", std::ios::binary);
    out_loss.write(reinterpret_cast<const char*>(h_loss.data()), sizeof(float));

    cudaFree(d_pred);
    cudaFree(d_target);
    cudaFree(d_weight);
    cudaFree(d_loss);
    return 0;
}
