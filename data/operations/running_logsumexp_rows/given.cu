const int ROWS = 50;
const int COLS = 400;

__global__ void cumulative_logsumexp(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float largest = x[r * cols];
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
        float v = x[r * cols + c];
        if (v > largest) {
            sum = sum * expf(largest - v) + 1.0f;
            largest = v;
        } else {
            sum += expf(v - largest);
        }
        y[r * cols + c] = largest + logf(sum);
    }
}

int main() {
    int size = ROWS * COLS;
    size_t size_bytes = size * sizeof(float);

    float* h_x = new float[size];
    read_binary("data/x.bin", h_x, size);
    float* h_y = new float[size];

    float *d_x, *d_y;
    cudaMalloc(&d_x, size_bytes);
    cudaMemcpy(d_x, h_x, size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, size_bytes);

    const int num_threads = 128;
    const int num_blocks = (ROWS + num_threads - 1) / num_threads;
    cumulative_logsumexp<<<num_blocks, num_threads>>>(d_x, d_y, ROWS, COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_y, d_y, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, size);

    delete[] h_x;
    delete[] h_y;
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
