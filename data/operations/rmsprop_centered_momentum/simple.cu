#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, float* data, size_t count) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(data), count * sizeof(float))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save_array(const std::string& path, const float* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

const int N = 9999;

__global__ void rmsprop_step(const float* weight, const float* grad, const float* square_avg, const float* grad_avg,
                             const float* velocity, float* weight_out, float* square_avg_out, float* grad_avg_out,
                             float* velocity_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i];
    float s = 0.99f * square_avg[i] + 0.01f * g * g;
    float a = 0.99f * grad_avg[i] + 0.01f * g;
    float v = 0.9f * velocity[i] + g / (sqrtf(fmaxf(s - a * a, 0.0f)) + 1e-3f);
    square_avg_out[i] = s;
    grad_avg_out[i] = a;
    velocity_out[i] = v;
    weight_out[i] = weight[i] - 0.01f * v;
}

int main() {
    float* h_weight = new float[N];
    load_array("data/weight.bin", h_weight, N);
    float* h_grad = new float[N];
    load_array("data/grad.bin", h_grad, N);
    float* h_square_avg = new float[N];
    load_array("data/square_avg.bin", h_square_avg, N);
    float* h_grad_avg = new float[N];
    load_array("data/grad_avg.bin", h_grad_avg, N);
    float* h_velocity = new float[N];
    load_array("data/velocity.bin", h_velocity, N);
    float* h_weight_out = new float[N];
    float* h_square_avg_out = new float[N];
    float* h_grad_avg_out = new float[N];
    float* h_velocity_out = new float[N];

    float* d_weight = nullptr;
    float* d_grad = nullptr;
    float* d_square_avg = nullptr;
    float* d_grad_avg = nullptr;
    float* d_velocity = nullptr;
    float* d_weight_out = nullptr;
    float* d_square_avg_out = nullptr;
    float* d_grad_avg_out = nullptr;
    float* d_velocity_out = nullptr;
    cudaMalloc(&d_weight, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMalloc(&d_square_avg, N * sizeof(float));
    cudaMalloc(&d_grad_avg, N * sizeof(float));
    cudaMalloc(&d_velocity, N * sizeof(float));
    cudaMalloc(&d_weight_out, N * sizeof(float));
    cudaMalloc(&d_square_avg_out, N * sizeof(float));
    cudaMalloc(&d_grad_avg_out, N * sizeof(float));
    cudaMalloc(&d_velocity_out, N * sizeof(float));
    cudaMemcpy(d_weight, h_weight, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_square_avg, h_square_avg, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad_avg, h_grad_avg, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_velocity, h_velocity, N * sizeof(float), cudaMemcpyHostToDevice);

    rmsprop_step<<<(N + 255) / 256, 256>>>(d_weight, d_grad, d_square_avg, d_grad_avg, d_velocity,
                                        d_weight_out, d_square_avg_out, d_grad_avg_out, d_velocity_out, N);

    cudaMemcpy(h_weight_out, d_weight_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_square_avg_out, d_square_avg_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_grad_avg_out, d_grad_avg_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_velocity_out, d_velocity_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/weight_out.bin", h_weight_out, N);
    save_array("data/square_avg_out.bin", h_square_avg_out, N);
    save_array("data/grad_avg_out.bin", h_grad_avg_out, N);
    save_array("data/velocity_out.bin", h_velocity_out, N);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_square_avg);
    cudaFree(d_grad_avg);
    cudaFree(d_velocity);
    cudaFree(d_weight_out);
    cudaFree(d_square_avg_out);
    cudaFree(d_grad_avg_out);
    cudaFree(d_velocity_out);
    delete[] h_weight;
    delete[] h_grad;
    delete[] h_square_avg;
    delete[] h_grad_avg;
    delete[] h_velocity;
    delete[] h_weight_out;
    delete[] h_square_avg_out;
    delete[] h_grad_avg_out;
    delete[] h_velocity_out;
    return 0;
}
