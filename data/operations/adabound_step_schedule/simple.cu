#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 10007;

__global__ void adabound(const float* param, const float* grad, const float* m, const float* v, const int* step,
                         float* param_out, float* m_out, float* v_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = (float)step[0];
    float lower = 0.1f * (1.0f - 1.0f / (0.001f * t + 1.0f));
    float upper = 0.1f * (1.0f + 1.0f / (0.001f * t));
    float mi = 0.9f * m[i] + 0.1f * grad[i];
    float vi = 0.999f * v[i] + 0.001f * grad[i] * grad[i];
    float size = 0.001f * sqrtf(1.0f - powf(0.999f, t)) / (1.0f - powf(0.9f, t)) / (sqrtf(vi) + 1e-8f);
    size = fminf(fmaxf(size, lower), upper);
    m_out[i] = mi;
    v_out[i] = vi;
    param_out[i] = param[i] - size * mi;
}

void compute(const float* d_param, const float* d_grad, const float* d_m, const float* d_v,
             const int* d_step, float* d_param_out, float* d_m_out, float* d_v_out) {
    adabound<<<(N + 255) / 256, 256>>>(d_param, d_grad, d_m, d_v, d_step, d_param_out, d_m_out, d_v_out, N);
}

int main() {
    std::vector<float> hParam(N), hGrad(N), hM(N), hV(N), h_param_out(N), h_m_out(N), h_v_out(N);
    std::vector<int> hStep(1);
    std::ifstream param_in("data/param.bin", std::ios::binary);
    param_in.read(reinterpret_cast<char*>(hParam.data()), N * sizeof(float));
    std::ifstream grad_in("data/grad.bin", std::ios::binary);
    grad_in.read(reinterpret_cast<char*>(hGrad.data()), N * sizeof(float));
    std::ifstream m_in("data/m.bin", std::ios::binary);
    m_in.read(reinterpret_cast<char*>(hM.data()), N * sizeof(float));
    std::ifstream v_in("data/v.bin", std::ios::binary);
    v_in.read(reinterpret_cast<char*>(hV.data()), N * sizeof(float));
    std::ifstream step_in("data/step.bin", std::ios::binary);
    step_in.read(reinterpret_cast<char*>(hStep.data()), sizeof(int));
    if (!param_in || !grad_in || !m_in || !v_in || !step_in) {
        std::cerr << "missing or short input file" << std::endl;
        return 1;
    }

    float* d_param = nullptr;
    float* d_grad = nullptr;
    float* d_m = nullptr;
    float* d_v = nullptr;
    int* d_step = nullptr;
    float* d_param_out = nullptr;
    float* d_m_out = nullptr;
    float* d_v_out = nullptr;
    cudaMalloc(&d_param, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMalloc(&d_m, N * sizeof(float));
    cudaMalloc(&d_v, N * sizeof(float));
    cudaMalloc(&d_step, sizeof(int));
    cudaMalloc(&d_param_out, N * sizeof(float));
    cudaMalloc(&d_m_out, N * sizeof(float));
    cudaMalloc(&d_v_out, N * sizeof(float));
    cudaMemcpy(d_param, hParam.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, hGrad.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m, hM.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, hV.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_step, hStep.data(), sizeof(int), cudaMemcpyHostToDevice);

    compute(d_param, d_grad, d_m, d_v, d_step, d_param_out, d_m_out, d_v_out);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch failed" << std::endl;
        return 1;
    }

    cudaMemcpy(h_param_out.data(), d_param_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_m_out.data(), d_m_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v_out.data(), d_v_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream param_out_out("data/param_out.bin", std::ios::binary);
    param_out_out.write(reinterpret_cast<const char*>(h_param_out.data()), N * sizeof(float));
    std::ofstream m_out_out("data/m_out.bin", std::ios::binary);
    m_out_out.write(reinterpret_cast<const char*>(h_m_out.data()), N * sizeof(float));
    std::ofstream v_out_out("data/v_out.bin", std::ios::binary);
    v_out_out.write(reinterpret_cast<const char*>(h_v_out.data()), N * sizeof(float));
    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_v);
    cudaFree(d_step);
    cudaFree(d_param_out);
    cudaFree(d_m_out);
    cudaFree(d_v_out);
    return 0;
}
