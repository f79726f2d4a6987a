const int ROWS = 60;
const int COLS = 150;

__global__ void mod_relu(const float* z, const float* bias, float* w, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float re = z[2 * i];
        float im = z[2 * i + 1];
        float r = sqrtf(re * re + im * im);
        float scale = 0.0f;
        if (r > 0.0f && r + bias[i % cols] > 0.0f) scale = (r + bias[i % cols]) / r;
        w[2 * i] = re * scale;
        w[2 * i + 1] = im * scale;
    }
}

int main() {
    float* h_z = new float[ROWS * COLS * 2];
    read_binary("data/z.bin", h_z, ROWS * COLS * 2);
    float* h_bias = new float[COLS];
    read_binary("data/bias.bin", h_bias, COLS);
    float* h_w = new float[ROWS * COLS * 2];

    float* d_z = nullptr;
    cudaMalloc(&d_z, ROWS * COLS * 2 * sizeof(float));
    float* d_bias = nullptr;
    cudaMalloc(&d_bias, COLS * sizeof(float));
    float* d_w = nullptr;
    cudaMalloc(&d_w, ROWS * COLS * 2 * sizeof(float));

    cudaMemcpy(d_z, h_z, ROWS * COLS * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias, COLS * sizeof(float), cudaMemcpyHostToDevice);

    int block_size = 256;
    int grid_size = (ROWS * COLS + block_size - 1) / block_size;
    mod_relu<<<grid_size, block_size>>>(d_z, d_bias, d_w, ROWS * COLS, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "mod_relu: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_w, d_w, ROWS * COLS * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/w.bin", h_w, ROWS * COLS * 2);

    cudaFree(d_z);
    cudaFree(d_bias);
    cudaFree(d_w);
    delete[] h_z;
    delete[] h_bias;
    delete[] h_w;
    return 0;
}
