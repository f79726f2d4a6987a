#define N 9000

__global__ void welsch_kernel(const float* residual, float* loss, float* grad, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float c = 2.0f;
        float r = residual[i];
        float u = (r / c) * (r / c);
        loss[i] = -0.5f * c * c * expm1f(-u);
        grad[i] = r * expf(-u);
    }
}

int main() {
    std::vector<float> h_residual(N);
    read_binary("data/residual.bin", h_residual.data(), N);
    std::vector<float> h_loss(N);
    std::vector<float> h_grad(N);

    float *d_residual, *d_loss, *d_grad;
    cudaMalloc(&d_residual, N * sizeof(float));
    cudaMemcpy(d_residual, h_residual.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_loss, N * sizeof(float));
    cudaMalloc(&d_grad, N * sizeof(float));

    welsch_kernel<<<(N + 255) / 256, 256>>>(d_residual, d_loss, d_grad, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_loss.data(), d_loss, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/loss.bin", h_loss.data(), N);
    cudaMemcpy(h_grad.data(), d_grad, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/grad.bin", h_grad.data(), N);

    cudaFree(d_residual);
    cudaFree(d_loss);
    cudaFree(d_grad);
    return 0;
}
