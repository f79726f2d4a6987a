#define N 10007

__global__ void adabound_step(const float* param, const float* grad, const float* m, const float* v,
                              const int* step, float* param_out, float* m_out, float* v_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = (float)step[0];
        float g = grad[i];
        float new_m = 0.9f * m[i] + 0.1f * g;
        float new_v = 0.999f * v[i] + 0.001f * g * g;
        float correction = sqrtf(1.0f - powf(0.999f, t)) / (1.0f - powf(0.9f, t));
        float e = 0.001f * correction / (sqrtf(new_v) + 1e-8f);
        float low = 0.1f * (1.0f - 1.0f / (0.001f * t + 1.0f));
        float high = 0.1f * (1.0f + 1.0f / (0.001f * t));
        e = fminf(fmaxf(e, low), high);
        m_out[i] = new_m;
        v_out[i] = new_v;
        param_out[i] = param[i] - e * new_m;
    }
}

int main() {
    std::vector<float> h_param(N);
    read_binary("data/param.bin", h_param.data(), N);
    float* d_param = nullptr;
    cudaMalloc(&d_param, N * sizeof(float));
    cudaMemcpy(d_param, h_param.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_grad(N);
    read_binary("data/grad.bin", h_grad.data(), N);
    float* d_grad = nullptr;
    cudaMalloc(&d_grad, N * sizeof(float));
    cudaMemcpy(d_grad, h_grad.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_m(N);
    read_binary("data/m.bin", h_m.data(), N);
    float* d_m = nullptr;
    cudaMalloc(&d_m, N * sizeof(float));
    cudaMemcpy(d_m, h_m.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_v(N);
    read_binary("data/v.bin", h_v.data(), N);
    float* d_v = nullptr;
    cudaMalloc(&d_v, N * sizeof(float));
    cudaMemcpy(d_v, h_v.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<int> h_step(1);
    read_binary("data/step.bin", reinterpret_cast<float*>(h_step.data()), 1);
    int* d_step = nullptr;
    cudaMalloc(&d_step, sizeof(int));
    cudaMemcpy(d_step, h_step.data(), sizeof(int), cudaMemcpyHostToDevice);

    std::vector<float> h_param_out(N);
    float* d_param_out = nullptr;
    cudaMalloc(&d_param_out, N * sizeof(float));
    std::vector<float> h_m_out(N);
    float* d_m_out = nullptr;
    cudaMalloc(&d_m_out, N * sizeof(float));
    std::vector<float> h_v_out(N);
    float* d_v_out = nullptr;
    cudaMalloc(&d_v_out, N * sizeof(float));

    int block = 256;
    int grid = (N + block - 1) / block;
    adabound_step<<<grid, block>>>(d_param, d_grad, d_m, d_v, d_step, d_param_out, d_m_out, d_v_out, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_param_out.data(), d_param_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/param_out.bin", h_param_out.data(), N);
    cudaMemcpy(h_m_out.data(), d_m_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/m_out.bin", h_m_out.data(), N);
    cudaMemcpy(h_v_out.data(), d_v_out, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/v_out.bin", h_v_out.data(), N);

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
