#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int kProblems = 100;
const int kDim = 120;
const int kSize = kProblems * kDim;

__global__ void step_lengths(const float* x, const float* x_prev, const float* grad, const float* grad_prev,
                             float* alpha) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kProblems) return;
    float a = 0.0f, b = 0.0f;
    for (int k = 0; k < kDim; k++) {
        int i = p * kDim + k;
        float y = grad[i] - grad_prev[i];
        a += (x[i] - x_prev[i]) * y;
        b += y * y;
    }
    alpha[p] = a > 1e-6f ? fminf(fmaxf(a / b, 0.001f), 2.0f) : 0.01f;
}

__global__ void move(const float* x, const float* grad, const float* alpha, float* x_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kSize) x_out[i] = x[i] - alpha[i / kDim] * grad[i];
}

int main() {
    std::vector<float> hX(kSize);
    std::vector<float> h_x_prev(kSize);
    std::vector<float> hGrad(kSize);
    std::vector<float> h_grad_prev(kSize);
    std::vector<float> h_x_out(kSize);
    std::vector<float> hAlpha(kProblems);
    if (!std::ifstream("data/x.bin", std::ios::binary)
             .read((char*)hX.data(), hX.size() * sizeof(float))) return 2;
    if (!std::ifstream("data/x_prev.bin", std::ios::binary)
             .read((char*)h_x_prev.data(), h_x_prev.size() * sizeof(float))) return 2;
    if (!std::ifstream("data/grad.bin", std::ios::binary)
             .read((char*)hGrad.data(), hGrad.size() * sizeof(float))) return 2;
    if (!std::ifstream("data/grad_prev.bin", std::ios::binary)
             .read((char*)h_grad_prev.data(), h_grad_prev.size() * sizeof(float))) return 2;
    float* d_x = nullptr;
    float* d_x_prev = nullptr;
    float* d_grad = nullptr;
    float* d_grad_prev = nullptr;
    float* d_x_out = nullptr;
    float* d_alpha = nullptr;
    cudaMalloc(&d_x, kSize * sizeof(float));
    cudaMalloc(&d_x_prev, kSize * sizeof(float));
    cudaMalloc(&d_grad, kSize * sizeof(float));
    cudaMalloc(&d_grad_prev, kSize * sizeof(float));
    cudaMalloc(&d_x_out, kSize * sizeof(float));
    cudaMalloc(&d_alpha, kProblems * sizeof(float));
    cudaMemcpy(d_x, hX.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x_prev, h_x_prev.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, hGrad.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad_prev, h_grad_prev.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
    step_lengths<<<(kProblems + 63) / 64, 64>>>(d_x, d_x_prev, d_grad, d_grad_prev, d_alpha);
    move<<<(kSize + 255) / 256, 256>>>(d_x, d_grad, d_alpha, d_x_out);
    cudaMemcpy(h_x_out.data(), d_x_out, kSize * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hAlpha.data(), d_alpha, kProblems * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/x_out.bin", std::ios::binary).write((char*)h_x_out.data(), h_x_out.size() * sizeof(float));
    std::ofstream("data/alpha.bin", std::ios::binary).write((char*)hAlpha.data(), hAlpha.size() * sizeof(float));
}
