const int ROWS = 25;
const int COLS = 400;

__device__ float sigmoid(float t) {
    return 1.0f / (1.0f + expf(-t));
}

__global__ void highway_kernel(const float* x, const float* hidden, const float* transform, const float* bias,
                               float* y, int rows, int cols) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= rows * cols) return;
    float g = sigmoid(transform[idx] + bias[idx % cols]);
    y[idx] = g * tanhf(hidden[idx]) + (1.0f - g) * x[idx];
}

int main() {
    size_t elements = (size_t)ROWS * COLS;

    float* h_x = new float[elements];
    float* h_hidden = new float[elements];
    float* h_transform = new float[elements];
    float* h_bias = new float[COLS];
    read_binary("data/x.bin", h_x, elements);
    read_binary("data/hidden.bin", h_hidden, elements);
    read_binary("data/transform.bin", h_transform, elements);
    read_binary("data/bias.bin", h_bias, COLS);

    float* d_x = nullptr;
    float* d_hidden = nullptr;
    float* d_transform = nullptr;
    float* d_bias = nullptr;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMalloc(&d_hidden, elements * sizeof(float));
    cudaMalloc(&d_transform, elements * sizeof(float));
    cudaMalloc(&d_bias, COLS * sizeof(float));
    cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_hidden, h_hidden, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_transform, h_transform, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias, COLS * sizeof(float), cudaMemcpyHostToDevice);

    float* d_y = nullptr;
    cudaMalloc(&d_y, elements * sizeof(float));

    const int threads = 512;
    const int blocks = (elements + threads - 1) / threads;
    highway_kernel<<<blocks, threads>>>(d_x, d_hidden, d_transform, d_bias, d_y, ROWS, COLS);

    float* h_y = new float[elements];
    cudaMemcpy(h_y, d_y, elements * sizeof(float), cudaMemcpyDeviceToHost);

    write_binary("data/y.bin", h_y, elements);

    cudaFree(d_x);
    cudaFree(d_hidden);
    cudaFree(d_transform);
    cudaFree(d_bias);
    cudaFree(d_y);

    delete[] h_x;
    delete[] h_hidden;
    delete[] h_transform;
    delete[] h_bias;
    delete[] h_y;
    return 0;
}
