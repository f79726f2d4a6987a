constexpr int N = 14000;

__global__ void tweedie_kernel(const float* raw, const float* label, const float* weight,
                               float* grad, float* hess, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = label[i] * expf(-0.3f * raw[i]);
        float b = expf(0.7f * raw[i]);
        grad[i] = weight[i] * (b - a);
        hess[i] = fmaxf(weight[i] * (0.3f * a + 0.7f * b), 1e-6f);
    }
}

int main() {
    const size_t bytes = N * sizeof(float);

    float* d_raw;
    cudaMalloc(&d_raw, bytes);
    float* d_label;
    cudaMalloc(&d_label, bytes);
    float* d_weight;
    cudaMalloc(&d_weight, bytes);
    float* d_grad;
    cudaMalloc(&d_grad, bytes);
    float* d_hess;
    cudaMalloc(&d_hess, bytes);

    float* h_raw = new float[N];
    read_binary("data/raw.bin", h_raw, N);
    cudaMemcpy(d_raw, h_raw, bytes, cudaMemcpyHostToDevice);
    float* h_label = new float[N];
    read_binary("data/label.bin", h_label, N);
    cudaMemcpy(d_label, h_label, bytes, cudaMemcpyHostToDevice);
    float* h_weight = new float[N];
    read_binary("data/weight.bin", h_weight, N);
    cudaMemcpy(d_weight, h_weight, bytes, cudaMemcpyHostToDevice);

    const int block = 512;
    const int grid = (N + block - 1) / block;
    tweedie_kernel<<<grid, block>>>(d_raw, d_label, d_weight, d_grad, d_hess, N);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    float* h_grad = new float[N];
    cudaMemcpy(h_grad, d_grad, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/grad.bin", h_grad, N);
    float* h_hess = new float[N];
    cudaMemcpy(h_hess, d_hess, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/hess.bin", h_hess, N);

    delete[] h_raw;
    delete[] h_label;
    delete[] h_weight;
    delete[] h_grad;
    delete[] h_hess;
    cudaFree(d_raw);
    cudaFree(d_label);
    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_hess);
    return 0;
}
