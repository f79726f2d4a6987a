const int ROWS = 120;
const int COLS = 150;

__global__ void maximum_along_rows(const float* x, float* best, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float running = -FLT_MAX;
    for (int c = 0; c < cols; ++c) {
        running = fmaxf(running, x[r * cols + c]);
        best[r * cols + c] = running;
    }
}

__global__ void maximum_down_columns(float* best, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float running = -FLT_MAX;
    for (int r = 0; r < rows; ++r) {
        running = fmaxf(running, best[r * cols + c]);
        best[r * cols + c] = running;
    }
}

int main() {
    size_t count = (size_t)ROWS * COLS;
    size_t nbytes = count * sizeof(float);

    float* h_x = new float[count];
    read_binary("data/x.bin", h_x, count);
    float* d_x = nullptr;
    cudaMalloc(&d_x, nbytes);
    cudaMemcpy(d_x, h_x, nbytes, cudaMemcpyHostToDevice);

    float* h_best = new float[count];
    float* d_best = nullptr;
    cudaMalloc(&d_best, nbytes);

    int blockSize = 128;
    maximum_along_rows<<<(ROWS + blockSize - 1) / blockSize, blockSize>>>(d_x, d_best, ROWS, COLS);
    maximum_down_columns<<<(COLS + blockSize - 1) / blockSize, blockSize>>>(d_best, ROWS, COLS);

    cudaMemcpy(h_best, d_best, nbytes, cudaMemcpyDeviceToHost);

    write_binary("data/best.bin", h_best, count);

    cudaFree(d_x);
    cudaFree(d_best);
    delete[] h_x;
    delete[] h_best;
    return 0;
}
