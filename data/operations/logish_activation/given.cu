#define ROWS 25
#define COLS 300

__global__ void logish_skip(const float* x, const float* skip, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sigmoid = 1.0f / (1.0f + expf(-x[i]));
        y[i] = skip[i] + x[i] * log1pf(sigmoid);
    }
}

int main() {
    const int count = ROWS * COLS;
    float* h_x = new float[count];
    float* h_skip = new float[count];
    read_binary("data/x.bin", h_x, count);
    read_binary("data/skip.bin", h_skip, count);

    float *d_x, *d_skip, *d_y;
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMalloc(&d_skip, count * sizeof(float));
    cudaMalloc(&d_y, count * sizeof(float));
    cudaMemcpy(d_x, h_x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_skip, h_skip, count * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (count + threads - 1) / threads;
    logish_skip<<<blocks, threads>>>(d_x, d_skip, d_y, count);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_y = new float[count];
    cudaMemcpy(h_y, d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, count);

    cudaFree(d_x);
    cudaFree(d_skip);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_skip;
    delete[] h_y;
    return 0;
}
