#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int N = 15000;

__global__ void dual_averaging(const float* grad_sum, const float* square_sum, const float* grad,
        const int* round_number,
                               float* weight, float* grad_sum_out, float* square_sum_out, int* nonzeros, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = (float)round_number[0];
    float s = grad_sum[i] + grad[i];
    float q = square_sum[i] + grad[i] * grad[i];
    float u = fabsf(s) / t - 0.05f;
    float w = 0.0f;
    if (u > 0.0f) {
        w = -copysignf(0.3f * t * u / sqrtf(q), s);
        atomicAdd(nonzeros, 1);
    }
    weight[i] = w;
    grad_sum_out[i] = s;
    square_sum_out[i] = q;
}

int main() {
    std::vector<float> h_grad_sum(N);
    std::vector<float> h_square_sum(N);
    std::vector<float> h_grad(N);
    std::vector<float> h_weight(N);
    std::vector<float> h_grad_sum_out(N);
    std::vector<float> h_square_sum_out(N);
    std::vector<int> h_round(1), h_nonzeros(1);
    std::ifstream in_grad_sum("data/grad_sum.bin", std::ios::binary);
    in_grad_sum.read(reinterpret_cast<char*>(h_grad_sum.data()), h_grad_sum.size() * sizeof(float));
    if (!in_grad_sum) {
        std::cerr << "cannot read data/grad_sum.bin" << std::endl;
        return 1;
    }
    std::ifstream in_square_sum("data/square_sum.bin", std::ios::binary);
    in_square_sum.read(reinterpret_cast<char*>(h_square_sum.data()), h_square_sum.size() * sizeof(float));
    if (!in_square_sum) {
        std::cerr << "failed to read data/square_sum.bin" << std::endl;
        return 1;
    }
    std::ifstream in_grad("data/grad.bin", std::ios::binary);
    in_grad.read(reinterpret_cast<char*>(h_grad.data()), h_grad.size() * sizeof(float));
    if (!in_grad) {
        std::cerr << "failed to read data/grad.bin" << std::endl;
        return 1;
    }
    std::ifstream in_round("data/round.bin", std::ios::binary);
    in_round.read(reinterpret_cast<char*>(h_round.data()), h_round.size() * sizeof(int));
    if (!in_round) {
        std::cerr << "failed to read data/round.bin" << std::endl;
        return 1;
    }

    float* d_grad_sum = nullptr;
    float* d_square_sum = nullptr;
    float* d_grad = nullptr;
    int* d_round = nullptr;
    float* d_weight = nullptr;
    float* d_grad_sum_out = nullptr;
    float* d_square_sum_out = nullptr;
    int* d_nonzeros = nullptr;
    cudaMalloc(&d_grad_sum, N * sizeof(float));
    cudaMalloc(&d_square_sum, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMalloc(&d_round, sizeof(int));
    cudaMalloc(&d_weight, N * sizeof(float));
    cudaMalloc(&d_grad_sum_out, N * sizeof(float));
    cudaMalloc(&d_square_sum_out, N * sizeof(float));
    cudaMalloc(&d_nonzeros, sizeof(int));
    cudaMemcpy(d_grad_sum, h_grad_sum.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_square_sum, h_square_sum.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_round, h_round.data(), sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_nonzeros, 0, sizeof(int));

    dual_averaging<<<(N + 255) / 256, 256>>>(d_grad_sum, d_square_sum, d_grad, d_round,
                                          d_weight, d_grad_sum_out, d_square_sum_out, d_nonzeros, N);

    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_weight.data(), d_weight, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_grad_sum_out.data(), d_grad_sum_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_square_sum_out.data(), d_square_sum_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_nonzeros.data(), d_nonzeros, sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream weight_out("data/weight.bin", std::ios::binary);
    weight_out.write(reinterpret_cast<const char*>(h_weight.data()), h_weight.size() * sizeof(float));
    std::ofstream out_grad_sum_out("data/grad_sum_out.bin", std::ios::binary);
    out_grad_sum_out.write(reinterpret_cast<const char*>(h_grad_sum_out.data()),
            h_grad_sum_out.size() * sizeof(float));
    std::ofstream out_square_sum_out("data/square_sum_out.bin", std::ios::binary);
    out_square_sum_out.write(reinterpret_cast<const char*>(h_square_sum_out.data()),
            h_square_sum_out.size() * sizeof(float));
    std::ofstream out_nonzeros("data/nonzeros.bin", std::ios::binary);
    out_nonzeros.write(reinterpret_cast<const char*>(h_nonzeros.data()), h_nonzeros.size() * sizeof(int));
    cudaFree(d_grad_sum);
    cudaFree(d_square_sum);
    cudaFree(d_grad);
    cudaFree(d_round);
    cudaFree(d_weight);
    cudaFree(d_grad_sum_out);
    cudaFree(d_square_sum_out);
    cudaFree(d_nonzeros);
    return 0;
}
