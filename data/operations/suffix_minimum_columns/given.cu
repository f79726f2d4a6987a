const int ROWS = 120;
const int COLS = 130;

__global__ void suffix_minimum(const float* x, float* low, float* slack, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cols) {
        float m = x[(size_t)(rows - 1) * cols + c];
        for (int r = rows - 1; r >= 0; --r) {
            size_t i = (size_t)r * cols + c;
            m = fminf(m, x[i]);
            low[i] = m;
            slack[i] = x[i] - m;
        }
    }
}

int main() {
    float* h_x = new float[ROWS * COLS];
    read_binary("data/x.bin", h_x, ROWS * COLS);

    float* d_x = nullptr;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    float* d_low = nullptr;
    cudaMalloc(&d_low, ROWS * COLS * sizeof(float));
    float* d_slack = nullptr;
    cudaMalloc(&d_slack, ROWS * COLS * sizeof(float));

    cudaMemcpy(d_x, h_x, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (COLS + threads - 1) / threads;
    suffix_minimum<<<blocks, threads>>>(d_x, d_low, d_slack, ROWS, COLS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "Kernel failed" << std::endl;
        return 1;
    }

    float* h_low = new float[ROWS * COLS];
    float* h_slack = new float[ROWS * COLS];
    cudaMemcpy(h_low, d_low, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/low.bin", h_low, ROWS * COLS);
    cudaMemcpy(h_slack, d_slack, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/slack.bin", h_slack, ROWS * COLS);
    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_slack);
    delete[] h_x;
    delete[] h_low;
    delete[] h_slack;
    return 0;
}
