#define ROWS 64
#define COLS 300

__global__ void hard_mish_kernel(const float* x, const float* scale, float* y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    float t = scale[i / cols] * x[i];
    y[i] = 0.5f * t * fminf(2.0f, fmaxf(0.0f, t + 2.0f));
}

int main() {
    const int count = ROWS * COLS;

    float* h_x = new float[count];
    read_binary("data/x.bin", h_x, count);
    float* d_x;
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMemcpy(d_x, h_x, count * sizeof(float), cudaMemcpyHostToDevice);

    float* h_scale = new float[ROWS];
    read_binary("data/scale.bin", h_scale, ROWS);
    float* d_scale;
    cudaMalloc(&d_scale, ROWS * sizeof(float));
    cudaMemcpy(d_scale, h_scale, ROWS * sizeof(float), cudaMemcpyHostToDevice);

    float* h_y = new float[count];
    float* d_y;
    cudaMalloc(&d_y, count * sizeof(float));

    int threads = 512;
    int blocks = (count + threads - 1) / threads;
    hard_mish_kernel<<<blocks, threads>>>(d_x, d_scale, d_y, ROWS, COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_y, d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, count);

    cudaFree(d_x);
    cudaFree(d_scale);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_scale;
    delete[] h_y;
    return 0;
}
