#define ROWS 12
#define SAMPLES 1001
#define OUT ((SAMPLES + 1) / 2)

__device__ float sample_at(const float* row, int t) {
    return t >= 0 && t < SAMPLES ? row[t] : 0.0f;
}

__global__ void halfband(const float* x, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (k >= OUT) return;
    const float* row = x + r * SAMPLES;
    int t = 2 * k;
    float near = sample_at(row, t - 1) + sample_at(row, t + 1);
    float far = sample_at(row, t - 3) + sample_at(row, t + 3);
    y[r * OUT + k] = (16.0f * row[t] + 9.0f * near - far) / 32.0f;
}

int main() {
    const int y_total = ROWS * OUT;
    float* h_x = new float[ROWS * SAMPLES];
    read_binary("data/x.bin", h_x, ROWS * SAMPLES);
    float* h_y = new float[y_total];

    float *d_x, *d_y;
    cudaMalloc(&d_x, sizeof(float) * ROWS * SAMPLES);
    cudaMalloc(&d_y, y_total * sizeof(float));
    cudaMemcpy(d_x, h_x, sizeof(float) * ROWS * SAMPLES, cudaMemcpyHostToDevice);

    dim3 grid((OUT + 255) / 256, ROWS);
    halfband<<<grid, 256>>>(d_x, d_y);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, y_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, y_total);

    cudaFree(d_x);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_y;
    return 0;
}
