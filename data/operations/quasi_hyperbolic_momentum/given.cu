const int ROWS = 70;
const int COLS = 150;

__global__ void qhm_rows(const float* weight, const float* grad, const float* buffer, const float* nu,
                         float* weight_out, float* buffer_out, int cols) {
    size_t base = (size_t)blockIdx.x * cols;
    int mine = 0;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) {
        if (grad[base + j] != 0.0f) mine = 1;
    }
    int live = __syncthreads_or(mine);
    for (int j = threadIdx.x; j < cols; j += blockDim.x) {
        float w = weight[base + j], b = buffer[base + j];
        if (live) {
            float g = grad[base + j];
            b = 0.95f * b + 0.05f * g;
            w -= 0.2f * ((1.0f - nu[j]) * g + nu[j] * b);
        }
        weight_out[base + j] = w;
        buffer_out[base + j] = b;
    }
}

int main() {
    size_t n = static_cast<size_t>(ROWS) * COLS;

    std::vector<float> h_weight(n);
    std::vector<float> h_grad(n);
    std::vector<float> h_buffer(n);
    std::vector<float> h_nu(COLS);
    std::vector<float> h_weight_out(n);
    std::vector<float> h_buffer_out(n);

    read_binary("data/weight.bin", h_weight.data(), n);
    read_binary("data/grad.bin", h_grad.data(), n);
    read_binary("data/buffer.bin", h_buffer.data(), n);
    read_binary("data/nu.bin", h_nu.data(), COLS);

    float *d_weight, *d_grad, *d_buffer, *d_nu, *d_weight_out, *d_buffer_out;
    cudaMalloc(&d_weight, sizeof(float) * n);
    cudaMalloc(&d_grad, sizeof(float) * n);
    cudaMalloc(&d_buffer, sizeof(float) * n);
    cudaMalloc(&d_nu, sizeof(float) * COLS);
    cudaMalloc(&d_weight_out, sizeof(float) * n);
    cudaMalloc(&d_buffer_out, sizeof(float) * n);
    cudaMemcpy(d_weight, h_weight.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
    cudaMemcpy(d_buffer, h_buffer.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
    cudaMemcpy(d_nu, h_nu.data(), sizeof(float) * COLS, cudaMemcpyHostToDevice);

    qhm_rows<<<ROWS, 256>>>(d_weight, d_grad, d_buffer, d_nu, d_weight_out, d_buffer_out, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch error" << '\n';
        return 1;
    }

    cudaMemcpy(h_weight_out.data(), d_weight_out, sizeof(float) * n, cudaMemcpyDeviceToHost);
    write_binary("data/weight_out.bin", h_weight_out.data(), n);
    cudaMemcpy(h_buffer_out.data(), d_buffer_out, sizeof(float) * n, cudaMemcpyDeviceToHost);
    write_binary("data/buffer_out.bin", h_buffer_out.data(), n);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_buffer);
    cudaFree(d_nu);
    cudaFree(d_weight_out);
    cudaFree(d_buffer_out);

    return 0;
}
