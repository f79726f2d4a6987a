#define ROWS 60
#define COLS 130

__global__ void silu_backward(const float* x, const float* bias, const float* dy, float* dx, float* dbias,
                              int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r) {
        int i = r * cols + c;
        float s = x[i] + bias[c];
        float p = 1.0f / (1.0f + expf(-s));
        float g = dy[i] * p * (1.0f + s * (1.0f - p));
        dx[i] = g;
        sum += g;
    }
    dbias[c] = sum;
}

int main() {
    const size_t numel = ROWS * COLS;

    float* h_x = new float[numel];
    float* h_bias = new float[COLS];
    float* h_dy = new float[numel];
    float* h_dx = new float[numel];
    float* h_dbias = new float[COLS];

    read_binary("data/x.bin", h_x, numel);
    read_binary("data/bias.bin", h_bias, COLS);
    read_binary("data/dy.bin", h_dy, numel);

    float* d_x = nullptr;
    float* d_bias = nullptr;
    float* d_dy = nullptr;
    float* d_dx = nullptr;
    float* d_dbias = nullptr;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMalloc(&d_bias, COLS * sizeof(float));
    cudaMalloc(&d_dy, numel * sizeof(float));
    cudaMalloc(&d_dx, numel * sizeof(float));
    cudaMalloc(&d_dbias, COLS * sizeof(float));
    cudaMemcpy(d_x, h_x, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias, COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_dy, h_dy, numel * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 128;
    const int blocks = (COLS + threads - 1) / threads;
    silu_backward<<<blocks, threads>>>(d_x, d_bias, d_dy, d_dx, d_dbias, ROWS, COLS);
    cudaDeviceSynchronize();

    cudaMemcpy(h_dx, d_dx, numel * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_dbias, d_dbias, COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/dx.bin", h_dx, numel);
    write_binary("data/dbias.bin", h_dbias, COLS);

    delete[] h_x;
    delete[] h_bias;
    delete[] h_dy;
    delete[] h_dx;
    delete[] h_dbias;
    cudaFree(d_x);
    cudaFree(d_bias);
    cudaFree(d_dy);
    cudaFree(d_dx);
    cudaFree(d_dbias);
    return 0;
}
