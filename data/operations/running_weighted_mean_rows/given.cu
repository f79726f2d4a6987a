#define ROWS 45
#define COLS 400

__global__ void running_mean(const float* x, const float* w, float* mean, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    float weight = 0.0f;
    for (int c = 0; c < cols; ++c) {
        int i = r * cols + c;
        sum += w[i] * x[i];
        weight += w[i];
        mean[i] = weight > 0.0f ? sum / weight : 0.0f;
    }
}

int main() {
    const size_t total = ROWS * COLS;
    float* h_x = new float[total];
    read_binary("data/x.bin", h_x, total);
    float* h_w = new float[total];
    read_binary("data/w.bin", h_w, total);
    float* h_mean = new float[total];

    float* d_x;
    float* d_w;
    float* d_mean;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMalloc(&d_w, total * sizeof(float));
    cudaMalloc(&d_mean, total * sizeof(float));
    cudaMemcpy(d_x, h_x, total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_w, h_w, total * sizeof(float), cudaMemcpyHostToDevice);

    int block = 128;
    int grid = (ROWS + block - 1) / block;
    running_mean<<<grid, block>>>(d_x, d_w, d_mean, ROWS, COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_mean, d_mean, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/mean.bin", h_mean, total);

    cudaFree(d_x);
    cudaFree(d_w);
    cudaFree(d_mean);
    delete[] h_x;
    delete[] h_w;
    delete[] h_mean;
    return 0;
}
