const int ROWS = 50;
const int COLS = 400;

__global__ void fill_gaps(const float* x, const unsigned char* known, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    const unsigned char* mask = known + (size_t)r * cols;
    float* out = y + (size_t)r * cols;
    int last = -1;
    for (int c = 0; c < cols; ++c) {
        if (mask[c] == 0) continue;
        out[c] = in[c];
        for (int k = last + 1; k < c; ++k) {
            if (last < 0) {
                out[k] = in[c];
            } else {
                out[k] = in[last] + (in[c] - in[last]) * (float)(k - last) / (float)(c - last);
            }
        }
        last = c;
    }
    for (int k = last + 1; k < cols; ++k) out[k] = last < 0 ? 0.0f : in[last];
}

int main() {
    const size_t n = (size_t)ROWS * COLS;

    std::vector<float> h_x(n);
    std::vector<unsigned char> h_known((n + 3) / 4 * 4);
    std::vector<float> h_y(n);
    read_binary("data/x.bin", h_x.data(), n);
    read_binary("data/known.bin", reinterpret_cast<float*>(h_known.data()), (n + 3) / 4);

    float* d_x;
    unsigned char* d_known;
    float* d_y;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_known, n * sizeof(unsigned char));
    cudaMalloc(&d_y, n * sizeof(float));

    cudaMemcpy(d_x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_known, h_known.data(), n * sizeof(unsigned char), cudaMemcpyHostToDevice);

    int block_size = 128;
    int grid_size = (ROWS + block_size - 1) / block_size;
    fill_gaps<<<grid_size, block_size>>>(d_x, d_known, d_y, ROWS, COLS);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), n);

    cudaFree(d_x);
    cudaFree(d_known);
    cudaFree(d_y);
    return 0;
}
