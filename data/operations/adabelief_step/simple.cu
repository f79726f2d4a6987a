#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>

#define N 11000

__global__ void adabelief(const float* param, const float* grad, const float* m, const float* s,
                          float* param_out, float* m_out, float* s_out, float c1, float c2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = grad[i];
        float mi = 0.9f * m[i] + 0.1f * g;
        float d = g - mi;
        float si = 0.999f * s[i] + 0.001f * d * d + 1e-8f;
        m_out[i] = mi;
        s_out[i] = si;
        float step = (mi / c1) / (sqrtf(si / c2) + 1e-8f);
        param_out[i] = param[i] - 0.001f * (step + 0.01f * param[i]);
    }
}

int main() {
    std::vector<float> host_param(N);
    std::vector<float> host_grad(N);
    std::vector<float> host_m(N);
    std::vector<float> host_s(N);
    std::vector<float> host_param_out(N);
    std::vector<float> host_m_out(N);
    std::vector<float> host_s_out(N);
    FILE* f = fopen("data/param.bin", "rb");
    if (!f || fread(host_param.data(), sizeof(float), host_param.size(), f) != host_param.size()) return -1;
    fclose(f);
    f = fopen("data/grad.bin", "rb");
    if (!f || fread(host_grad.data(), sizeof(float), host_grad.size(), f) != host_grad.size()) return -1;
    fclose(f);
    f = fopen("data/m.bin", "rb");
    if (!f || fread(host_m.data(), sizeof(float), host_m.size(), f) != host_m.size()) return -1;
    fclose(f);
    f = fopen("data/s.bin", "rb");
    if (!f || fread(host_s.data(), sizeof(float), host_s.size(), f) != host_s.size()) return -1;
    fclose(f);
    float *d_param, *d_grad, *d_m, *d_s, *d_param_out, *d_m_out, *d_s_out;
    cudaMalloc(&d_param, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMalloc(&d_m, N * sizeof(float));
    cudaMalloc(&d_s, N * sizeof(float));
    cudaMalloc(&d_param_out, N * sizeof(float));
    cudaMalloc(&d_m_out, N * sizeof(float));
    cudaMalloc(&d_s_out, N * sizeof(float));
    cudaMemcpy(d_param, host_param.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, host_grad.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_m, host_m.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_s, host_s.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    float c1 = 1.0 - pow(0.9, 20), c2 = 1.0 - pow(0.999, 20);
    adabelief<<<(N + 255) / 256, 256>>>(d_param, d_grad, d_m, d_s, d_param_out, d_m_out, d_s_out, c1, c2, N);
    cudaMemcpy(host_param_out.data(), d_param_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_m_out.data(), d_m_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_s_out.data(), d_s_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/param_out.bin", "wb");
    fwrite(host_param_out.data(), sizeof(float), host_param_out.size(), f);
    fclose(f);
    f = fopen("data/m_out.bin", "wb");
    fwrite(host_m_out.data(), sizeof(float), host_m_out.size(), f);
    fclose(f);
    f = fopen("data/s_out.bin", "wb");
    fwrite(host_s_out.data(), sizeof(float), host_s_out.size(), f);
    fclose(f);
    return 0;
}
