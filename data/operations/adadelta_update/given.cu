constexpr int ROWS = 30;
constexpr int COLS = 333;

__global__ void adadelta(const float* weight, const float* grad, const float* acc_grad,
                         const float* acc_delta, float* weight_out, float* acc_grad_out,
                         float* acc_delta_out, int n) {
    const float rho = 0.95f, eps = 1e-6f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = grad[i];
        float a = rho * acc_grad[i] + (1.0f - rho) * g * g;
        float delta = g * sqrtf(acc_delta[i] + eps) / sqrtf(a + eps);
        weight_out[i] = weight[i] - delta;
        acc_grad_out[i] = a;
        acc_delta_out[i] = rho * acc_delta[i] + (1.0f - rho) * delta * delta;
    }
}

int main() {
    const int size = ROWS * COLS;

    std::vector<float> h_weight(size);
    read_binary("data/weight.bin", h_weight.data(), size);
    std::vector<float> h_grad(size);
    read_binary("data/grad.bin", h_grad.data(), size);
    std::vector<float> h_acc_grad(size);
    read_binary("data/acc_grad.bin", h_acc_grad.data(), size);
    std::vector<float> h_acc_delta(size);
    read_binary("data/acc_delta.bin", h_acc_delta.data(), size);

    float* d_weight = nullptr;
    cudaMalloc((void**)&d_weight, sizeof(float) * size);
    float* d_grad = nullptr;
    cudaMalloc((void**)&d_grad, sizeof(float) * size);
    float* d_acc_grad = nullptr;
    cudaMalloc((void**)&d_acc_grad, sizeof(float) * size);
    float* d_acc_delta = nullptr;
    cudaMalloc((void**)&d_acc_delta, sizeof(float) * size);
    float* d_weight_out = nullptr;
    cudaMalloc((void**)&d_weight_out, sizeof(float) * size);
    float* d_acc_grad_out = nullptr;
    cudaMalloc((void**)&d_acc_grad_out, sizeof(float) * size);
    float* d_acc_delta_out = nullptr;
    cudaMalloc((void**)&d_acc_delta_out, sizeof(float) * size);

    cudaMemcpy(d_weight, h_weight.data(), sizeof(float) * size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), sizeof(float) * size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_acc_grad, h_acc_grad.data(), sizeof(float) * size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_acc_delta, h_acc_delta.data(), sizeof(float) * size, cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((size + 256 - 1) / 256);
    adadelta<<<grid, block>>>(d_weight, d_grad, d_acc_grad, d_acc_delta, d_weight_out,
                              d_acc_grad_out, d_acc_delta_out, size);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::vector<float> h_weight_out(size);
    std::vector<float> h_acc_grad_out(size);
    std::vector<float> h_acc_delta_out(size);
    cudaMemcpy(h_weight_out.data(), d_weight_out, sizeof(float) * size, cudaMemcpyDeviceToHost);
    write_binary("data/weight_out.bin", h_weight_out.data(), size);
    cudaMemcpy(h_acc_grad_out.data(), d_acc_grad_out, sizeof(float) * size, cudaMemcpyDeviceToHost);
    write_binary("data/acc_grad_out.bin", h_acc_grad_out.data(), size);
    cudaMemcpy(h_acc_delta_out.data(), d_acc_delta_out, sizeof(float) * size, cudaMemcpyDeviceToHost);
    write_binary("data/acc_delta_out.bin", h_acc_delta_out.data(), size);
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_acc_grad);
    cudaFree(d_acc_delta);
    cudaFree(d_weight_out);
    cudaFree(d_acc_grad_out);
    cudaFree(d_acc_delta_out);
    return 0;
}
