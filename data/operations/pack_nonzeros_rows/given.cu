const int ROWS = 60;
const int COLS = 300;

__global__ void pack_rows(const float* x, float* packed, int* columns, int* count, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int start = r * cols;
    int filled = 0;
    for (int c = 0; c < cols; ++c) {
        float value = x[start + c];
        if (value != 0.0f) {
            packed[start + filled] = value;
            columns[start + filled] = c;
            ++filled;
        }
    }
    count[r] = filled;
    for (int c = filled; c < cols; ++c) {
        packed[start + c] = 0.0f;
        columns[start + c] = -1;
    }
}

int main() {
    const size_t nbytes = ROWS * COLS * sizeof(float);

    std::vector<float> h_x(ROWS * COLS);
    read_binary("data/x.bin", h_x.data(), ROWS * COLS);
    float* d_x;
    cudaMalloc(&d_x, nbytes);
    cudaMemcpy(d_x, h_x.data(), nbytes, cudaMemcpyHostToDevice);

    std::vector<float> h_packed(ROWS * COLS);
    float* d_packed;
    cudaMalloc(&d_packed, nbytes);
    std::vector<int> h_columns(ROWS * COLS);
    int* d_columns;
    cudaMalloc(&d_columns, ROWS * COLS * sizeof(int));
    std::vector<int> h_count(ROWS);
    int* d_count;
    cudaMalloc(&d_count, ROWS * sizeof(int));

    const int threads = 128;
    const int blocks = (ROWS + threads - 1) / threads;
    pack_rows<<<blocks, threads>>>(d_x, d_packed, d_columns, d_count, ROWS, COLS);

    cudaMemcpy(h_packed.data(), d_packed, nbytes, cudaMemcpyDeviceToHost);
    write_binary("data/packed.bin", h_packed.data(), ROWS * COLS);
    cudaMemcpy(h_columns.data(), d_columns, ROWS * COLS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/columns.bin", reinterpret_cast<float*>(h_columns.data()), ROWS * COLS);
    cudaMemcpy(h_count.data(), d_count, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/count.bin", reinterpret_cast<float*>(h_count.data()), ROWS);

    cudaFree(d_x);
    cudaFree(d_packed);
    cudaFree(d_columns);
    cudaFree(d_count);
    return 0;
}
