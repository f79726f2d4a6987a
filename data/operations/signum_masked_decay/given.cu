const int ROWS = 60;
const int COLS = 200;

__global__ void signum_update(const float* weight, const float* grad, const float* momentum,
                              const unsigned char* decay_row, float* weight_out, float* momentum_out,
                              int* agreement, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int row = i / cols;
    float m = 0.875f * momentum[i] + 0.125f * grad[i];
    float sign = 0.0f;
    if (m > 0.0f) sign = 1.0f;
    if (m < 0.0f) sign = -1.0f;
    float d = decay_row[row] == 1 ? 0.999f : 1.0f;
    momentum_out[i] = m;
    weight_out[i] = d * weight[i] - 0.01f * sign;
    if (sign * grad[i] > 0.0f) atomicAdd(&agreement[row], 1);
}

int main() {
    const int numel = ROWS * COLS;
    size_t bytes = numel * sizeof(float);

    std::vector<float> h_weight(numel);
    std::vector<float> h_grad(numel);
    std::vector<float> h_momentum(numel);
    std::vector<unsigned char> h_decay_row((ROWS + 3) / 4 * 4);
    std::vector<float> h_weight_out(numel);
    std::vector<float> h_momentum_out(numel);
    std::vector<int> h_agreement(ROWS);
    read_binary("data/weight.bin", h_weight.data(), numel);
    read_binary("data/grad.bin", h_grad.data(), numel);
    read_binary("data/momentum.bin", h_momentum.data(), numel);
    read_binary("data/decay_row.bin", reinterpret_cast<float*>(h_decay_row.data()), (ROWS + 3) / 4);

    float *d_weight, *d_grad, *d_momentum, *d_weight_out, *d_momentum_out;
    unsigned char* d_decay_row;
    int* d_agreement;
    cudaMalloc(&d_weight, bytes);
    cudaMalloc(&d_grad, bytes);
    cudaMalloc(&d_momentum, bytes);
    cudaMalloc(&d_decay_row, ROWS * sizeof(unsigned char));
    cudaMalloc(&d_weight_out, bytes);
    cudaMalloc(&d_momentum_out, bytes);
    cudaMalloc(&d_agreement, ROWS * sizeof(int));
    cudaMemcpy(d_weight, h_weight.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_momentum, h_momentum.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_decay_row, h_decay_row.data(), ROWS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    cudaMemset(d_agreement, 0, ROWS * sizeof(int));
    const int block_size = 256;
    const int grid_size = (numel + block_size - 1) / block_size;
    signum_update<<<grid_size, block_size>>>(d_weight, d_grad, d_momentum, d_decay_row, d_weight_out,
        d_momentum_out, d_agreement, ROWS, COLS);

    cudaMemcpy(h_weight_out.data(), d_weight_out, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/weight_out.bin", h_weight_out.data(), numel);
    cudaMemcpy(h_momentum_out.data(), d_momentum_out, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/momentum_out.bin", h_momentum_out.data(), numel);
    cudaMemcpy(h_agreement.data(), d_agreement, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/agreement.bin", reinterpret_cast<float*>(h_agreement.data()), ROWS);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_momentum);
    cudaFree(d_decay_row);
    cudaFree(d_weight_out);
    cudaFree(d_momentum_out);
    cudaFree(d_agreement);
    return 0;
}
