#define N 11000

__global__ void adabelief_kernel(const float* param, const float* grad, const float* m, const float* s,
                                 float* param_out, float* m_out, float* s_out,
                                 float correction1, float correction2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i];
    float mean = 0.9f * m[i] + 0.1f * g;
    float diff = g - mean;
    float spread = 0.999f * s[i] + 0.001f * diff * diff + 1e-8f;
    float mh = mean / correction1;
    float sh = spread / correction2;
    m_out[i] = mean;
    s_out[i] = spread;
    param_out[i] = param[i] - 0.001f * (mh / (sqrtf(sh) + 1e-8f) + 0.01f * param[i]);
}

int main() {
    float* d_param;
    cudaMalloc(&d_param, N * sizeof(float));
    float* d_grad;
    cudaMalloc(&d_grad, N * sizeof(float));
    float* d_m;
    cudaMalloc(&d_m, N * sizeof(float));
    float* d_s;
    cudaMalloc(&d_s, N * sizeof(float));
    float* d_param_out;
    cudaMalloc(&d_param_out, N * sizeof(float));
    float* d_m_out;
    cudaMalloc(&d_m_out, N * sizeof(float));
    float* d_s_out;
    cudaMalloc(&d_s_out, N * sizeof(float));

    std::vector<float> h_param(N);
    read_binary("data/param.bin", h_param.data(), N);
    cudaMemcpy(d_param, h_param.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    std::vector<float> h_grad(N);
    read_binary("data/grad.bin", h_grad.data(), N);
    cudaMemcpy(d_grad, h_grad.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    std::vector<float> h_m(N);
    read_binary("data/m.bin", h_m.data(), N);
    cudaMemcpy(d_m, h_m.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    std::vector<float> h_s(N);
    read_binary("data/s.bin", h_s.data(), N);
    cudaMemcpy(d_s, h_s.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    float correction1 = (float)(1.0 - pow(0.9, 20.0));
    float correction2 = (float)(1.0 - pow(0.999, 20.0));
    const int threads = 256;
    const int blocks = (N + threads - 1) / threads;
    adabelief_kernel<<<blocks, threads>>>(d_param, d_grad, d_m, d_s, d_param_out, d_m_out, d_s_out,
        correction1, correction2, N);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    std::vector<float> h_param_out(N);
    cudaMemcpy(h_param_out.data(), d_param_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/param_out.bin", h_param_out.data(), N);
    std::vector<float> h_m_out(N);
    cudaMemcpy(h_m_out.data(), d_m_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/m_out.bin", h_m_out.data(), N);
    std::vector<float> h_s_out(N);
    cudaMemcpy(h_s_out.data(), d_s_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/s_out.bin", h_s_out.data(), N);

    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_s);
    cudaFree(d_param_out);
    cudaFree(d_m_out);
    cudaFree(d_s_out);
    return 0;
}
