#include <cmath>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int kN = 9999;

__device__ void update(float& w, float g, float& s, float& a, float& v) {
    s += 0.01f * (g * g - s);
    a += 0.01f * (g - a);
    v = 0.9f * v + g / (sqrtf(fmaxf(s - a * a, 0.0f)) + 1e-3f);
    w -= 0.01f * v;
}

// Two elements a thread, moved as float2.
__global__ void rmsprop_pairs(const float2* weight, const float2* grad, const float2* square_avg,
        const float2* grad_avg,
                              const float2* velocity, float2* weight_out, float2* square_avg_out,
                              float2* grad_avg_out, float2* velocity_out) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= (kN + 1) / 2) return;
    if (2 * k + 1 < kN) {
        float2 w = weight[k], s = square_avg[k], a = grad_avg[k], v = velocity[k];
        const float2 g = grad[k];
        update(w.x, g.x, s.x, a.x, v.x);
        update(w.y, g.y, s.y, a.y, v.y);
        weight_out[k] = w;
        square_avg_out[k] = s;
        grad_avg_out[k] = a;
        velocity_out[k] = v;
    } else {
        float w = weight[k].x, s = square_avg[k].x, a = grad_avg[k].x, v = velocity[k].x;
        update(w, grad[k].x, s, a, v);
        weight_out[k].x = w;
        square_avg_out[k].x = s;
        grad_avg_out[k].x = a;
        velocity_out[k].x = v;
    }
}

int main() {
    std::vector<float> host_weight(kN);
    std::vector<float> host_grad(kN);
    std::vector<float> host_square_avg(kN);
    std::vector<float> host_grad_avg(kN);
    std::vector<float> host_velocity(kN);
    std::vector<float> host_weight_out(kN);
    std::vector<float> host_square_avg_out(kN);
    std::vector<float> host_grad_avg_out(kN);
    std::vector<float> host_velocity_out(kN);
    if (!std::ifstream("data/weight.bin", std::ios::binary)
             .read((char*)host_weight.data(), host_weight.size() * sizeof(float))) return -1;
    if (!std::ifstream("data/grad.bin", std::ios::binary)
             .read((char*)host_grad.data(), host_grad.size() * sizeof(float))) return -1;
    if (!std::ifstream("data/square_avg.bin", std::ios::binary)
             .read((char*)host_square_avg.data(), host_square_avg.size() * sizeof(float))) return -1;
    if (!std::ifstream("data/grad_avg.bin", std::ios::binary)
             .read((char*)host_grad_avg.data(), host_grad_avg.size() * sizeof(float))) return -1;
    if (!std::ifstream("data/velocity.bin", std::ios::binary)
             .read((char*)host_velocity.data(), host_velocity.size() * sizeof(float))) return -1;
    float* dev_weight;
    float* dev_grad;
    float* dev_square_avg;
    float* dev_grad_avg;
    float* dev_velocity;
    float* dev_weight_out;
    float* dev_square_avg_out;
    float* dev_grad_avg_out;
    float* dev_velocity_out;
    cudaMalloc(&dev_weight, kN * sizeof(float));
    cudaMalloc(&dev_grad, kN * sizeof(float));
    cudaMalloc(&dev_square_avg, kN * sizeof(float));
    cudaMalloc(&dev_grad_avg, kN * sizeof(float));
    cudaMalloc(&dev_velocity, kN * sizeof(float));
    cudaMalloc(&dev_weight_out, kN * sizeof(float));
    cudaMalloc(&dev_square_avg_out, kN * sizeof(float));
    cudaMalloc(&dev_grad_avg_out, kN * sizeof(float));
    cudaMalloc(&dev_velocity_out, kN * sizeof(float));
    cudaMemcpy(dev_weight, host_weight.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_grad, host_grad.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_square_avg, host_square_avg.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_grad_avg, host_grad_avg.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_velocity, host_velocity.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    rmsprop_pairs<<<((kN + 1) / 2 + 255) / 256, 256>>>(
        (const float2*)dev_weight, (const float2*)dev_grad, (const float2*)dev_square_avg,
                (const float2*)dev_grad_avg,
        (const float2*)dev_velocity, (float2*)dev_weight_out, (float2*)dev_square_avg_out, (float2*)dev_grad_avg_out,
        (float2*)dev_velocity_out);
    cudaMemcpy(host_weight_out.data(), dev_weight_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_square_avg_out.data(), dev_square_avg_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_grad_avg_out.data(), dev_grad_avg_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_velocity_out.data(), dev_velocity_out, kN * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/weight_out.bin", std::ios::binary).write((char*)host_weight_out.data(),
            host_weight_out.size() * sizeof(float));
    std::ofstream("data/square_avg_out.bin", std::ios::binary).write((char*)host_square_avg_out.data(),
            host_square_avg_out.size() * sizeof(float));
    std::ofstream("data/grad_avg_out.bin", std::ios::binary).write((char*)host_grad_avg_out.data(),
            host_grad_avg_out.size() * sizeof(float));
    std::ofstream("data/velocity_out.bin", std::ios::binary).write((char*)host_velocity_out.data(),
            host_velocity_out.size() * sizeof(float));
    return 0;
}
