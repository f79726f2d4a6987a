constexpr int ROWS = 90;
constexpr int COLS = 110;

__device__ float accumulate(float row, float col, float g) {
    return fminf(row, col) + g * g;
}

__global__ void update_rows(const float* weight, const float* grad, const float* row_acc, const float* col_acc,
                            float* weight_out, float* row_out, int cols) {
    __shared__ float largest[128];
    int t = threadIdx.x;
    int r = blockIdx.x;
    float top = 0.0f;
    for (int c = t; c < cols; c += 128) {
        int i = r * cols + c;
        float nu = accumulate(row_acc[r], col_acc[c], grad[i]);
        weight_out[i] = nu > 0.0f ? weight[i] - 0.1f * grad[i] / sqrtf(nu) : weight[i];
        top = fmaxf(top, nu);
    }
    largest[t] = top;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) largest[t] = fmaxf(largest[t], largest[t + s]);
        __syncthreads();
    }
    if (t == 0) row_out[r] = largest[0];
}

__global__ void column_maxima(const float* grad, const float* row_acc, const float* col_acc, float* col_out,
                              int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float top = 0.0f;
    for (int r = 0; r < rows; ++r) top = fmaxf(top, accumulate(row_acc[r], col_acc[c], grad[r * cols + c]));
    col_out[c] = top;
}

int main() {
    const size_t numel = ROWS * COLS;
    float* h_weight = new float[numel];
    read_binary("data/weight.bin", h_weight, numel);
    float* d_weight;
    cudaMalloc(&d_weight, numel * sizeof(float));
    cudaMemcpy(d_weight, h_weight, numel * sizeof(float), cudaMemcpyHostToDevice);

    float* h_grad = new float[numel];
    read_binary("data/grad.bin", h_grad, numel);
    float* d_grad;
    cudaMalloc(&d_grad, numel * sizeof(float));
    cudaMemcpy(d_grad, h_grad, numel * sizeof(float), cudaMemcpyHostToDevice);

    float* h_row_acc = new float[ROWS];
    read_binary("data/row_acc.bin", h_row_acc, ROWS);
    float* d_row_acc;
    cudaMalloc(&d_row_acc, sizeof(float) * ROWS);
    cudaMemcpy(d_row_acc, h_row_acc, sizeof(float) * ROWS, cudaMemcpyHostToDevice);

    float* h_col_acc = new float[COLS];
    read_binary("data/col_acc.bin", h_col_acc, COLS);
    float* d_col_acc;
    cudaMalloc(&d_col_acc, sizeof(float) * COLS);
    cudaMemcpy(d_col_acc, h_col_acc, sizeof(float) * COLS, cudaMemcpyHostToDevice);

    float* h_weight_out = new float[numel];
    float* d_weight_out;
    cudaMalloc(&d_weight_out, numel * sizeof(float));
    float* h_row_out = new float[ROWS];
    float* d_row_out;
    cudaMalloc(&d_row_out, sizeof(float) * ROWS);
    float* h_col_out = new float[COLS];
    float* d_col_out;
    cudaMalloc(&d_col_out, sizeof(float) * COLS);

    update_rows<<<ROWS, 128>>>(d_weight, d_grad, d_row_acc, d_col_acc, d_weight_out, d_row_out, COLS);
    column_maxima<<<(COLS + 127) / 128, 128>>>(d_grad, d_row_acc, d_col_acc, d_col_out, ROWS, COLS);
    cudaDeviceSynchronize();

    cudaMemcpy(h_weight_out, d_weight_out, numel * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_row_out, d_row_out, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_col_out, d_col_out, sizeof(float) * COLS, cudaMemcpyDeviceToHost);
    write_binary("data/weight_out.bin", h_weight_out, numel);
    write_binary("data/row_out.bin", h_row_out, ROWS);
    write_binary("data/col_out.bin", h_col_out, COLS);

    cudaFree(d_weight);
    delete[] h_weight;
    cudaFree(d_grad);
    delete[] h_grad;
    cudaFree(d_row_acc);
    delete[] h_row_acc;
    cudaFree(d_col_acc);
    delete[] h_col_acc;
    cudaFree(d_weight_out);
    delete[] h_weight_out;
    cudaFree(d_row_out);
    delete[] h_row_out;
    cudaFree(d_col_out);
    delete[] h_col_out;
    return 0;
}
