const int ROWS = 100;
const int COLS = 130;
const int THREADS = 128;

__global__ void row_means(const float* a, float* row_mean, int cols) {
    __shared__ float sums[THREADS];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int j = t; j < cols; j += THREADS) sum += a[blockIdx.x * cols + j];
    sums[t] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) row_mean[blockIdx.x] = sums[0] / cols;
}

__global__ void centre_columns(const float* a, const float* row_mean, float* centred, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    float sum = 0.0f;
    for (int i = 0; i < rows; ++i) sum += a[i * cols + j] - row_mean[i];
    float mean = sum / rows;
    for (int i = 0; i < rows; ++i) centred[i * cols + j] = a[i * cols + j] - row_mean[i] - mean;
}

int main() {
    const int cells = ROWS * COLS;
    float* h_a = new float[cells];
    float* h_centred = new float[cells];
    read_binary("data/a.bin", h_a, cells);

    float* d_a;
    float* d_centred;
    float* d_row_mean;
    cudaMalloc(&d_a, cells * sizeof(float));
    cudaMalloc(&d_centred, cells * sizeof(float));
    cudaMalloc(&d_row_mean, ROWS * sizeof(float));

    cudaMemcpy(d_a, h_a, cells * sizeof(float), cudaMemcpyHostToDevice);

    row_means<<<ROWS, THREADS>>>(d_a, d_row_mean, COLS);
    centre_columns<<<(COLS + THREADS - 1) / THREADS, THREADS>>>(d_a, d_row_mean, d_centred, ROWS, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_centred, d_centred, cells * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/centred.bin", h_centred, cells);

    cudaFree(d_a);
    cudaFree(d_centred);
    cudaFree(d_row_mean);
    delete[] h_a;
    delete[] h_centred;
    return 0;
}
