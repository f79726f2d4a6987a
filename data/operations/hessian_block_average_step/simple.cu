#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <vector>

constexpr int BLOCKS = 500;
constexpr int WIDTH = 20;
constexpr int SIZE = BLOCKS * WIDTH;

__global__ void block_step(const float* param, const float* grad, const float* diag, const float* moment,
                           float* param_out, float* moment_out) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= BLOCKS) return;
    float h = 0.0f;
    for (int k = 0; k < WIDTH; k++) h += fabsf(diag[b * WIDTH + k]);
    h /= WIDTH;
    float m = 0.9f * moment[b] + 0.1f * h * h;
    moment_out[b] = m;
    float scale = 0.15f / (sqrtf(m) + 0.0001f);
    for (int k = 0; k < WIDTH; k++) {
        param_out[b * WIDTH + k] = param[b * WIDTH + k] - scale * grad[b * WIDTH + k];
    }
}

int main() {
    std::vector<float> h_param(SIZE);
    std::vector<float> h_grad(SIZE);
    std::vector<float> h_diag(SIZE);
    std::vector<float> h_moment(BLOCKS);
    std::vector<float> h_param_out(SIZE);
    std::vector<float> h_moment_out(BLOCKS);
    std::ifstream param_in("data/param.bin", std::ios::binary);
    param_in.read((char*)h_param.data(), h_param.size() * sizeof(float));
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read((char*)h_grad.data(), h_grad.size() * sizeof(float));
    std::ifstream diag_in("data/diag.bin", std::ios::binary);
    diag_in.read((char*)h_diag.data(), h_diag.size() * sizeof(float));
    std::ifstream moment_in("data/moment.bin", std::ios::binary);
    moment_in.read((char*)h_moment.data(), h_moment.size() * sizeof(float));
    if (!param_in || !grad_in || !diag_in || !moment_in) {
        std::cerr << "input files are missing or too short\n";
        return 1;
    }

    float* d_param;
    float* d_grad;
    float* d_diag;
    float* d_moment;
    float* d_param_out;
    float* d_moment_out;
    cudaMalloc(&d_param, SIZE * sizeof(float));
    cudaMalloc(&d_grad, SIZE * sizeof(float));
    cudaMalloc(&d_diag, SIZE * sizeof(float));
    cudaMalloc(&d_moment, BLOCKS * sizeof(float));
    cudaMalloc(&d_param_out, SIZE * sizeof(float));
    cudaMalloc(&d_moment_out, BLOCKS * sizeof(float));
    cudaMemcpy(d_param, h_param.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_diag, h_diag.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment.data(), BLOCKS * sizeof(float), cudaMemcpyHostToDevice);

    block_step<<<(BLOCKS + 127) / 128, 128>>>(d_param, d_grad, d_diag, d_moment, d_param_out, d_moment_out);

    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_param_out.data(), d_param_out, SIZE * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_moment_out.data(), d_moment_out, BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/param_out.bin", std::ios::binary)
        .write((const char*)h_param_out.data(), h_param_out.size() * sizeof(float));
    std::ofstream("data/moment_out.bin", std::ios::binary)
        .write((const char*)h_moment_out.data(), h_moment_out.size() * sizeof(float));
    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_diag);
    cudaFree(d_moment);
    cudaFree(d_param_out);
    cudaFree(d_moment_out);
    return 0;
}
