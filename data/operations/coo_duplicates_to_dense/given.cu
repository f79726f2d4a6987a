#define ROWS 60
#define COLS 100
#define ENTRIES 3000
#define TOTAL (ROWS * COLS)

__global__ void scatter_entries(const int* row, const int* col, const float* value, float* dense,
                               int entries, int cols) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries && col[k] >= 0) {
        atomicAdd(&dense[row[k] * cols + col[k]], value[k]);
    }
}

int main() {
    int* h_row = new int[ENTRIES];
    read_binary("data/row.bin", reinterpret_cast<float*>(h_row), ENTRIES);
    int* h_col = new int[ENTRIES];
    read_binary("data/col.bin", reinterpret_cast<float*>(h_col), ENTRIES);
    float* h_value = new float[ENTRIES];
    read_binary("data/value.bin", h_value, ENTRIES);
    float* h_dense = new float[TOTAL];

    int* d_row = nullptr;
    int* d_col = nullptr;
    float* d_value = nullptr;
    float* d_dense = nullptr;
    cudaMalloc(&d_row, sizeof(int) * ENTRIES);
    cudaMalloc(&d_col, sizeof(int) * ENTRIES);
    cudaMalloc(&d_value, sizeof(float) * ENTRIES);
    cudaMalloc(&d_dense, sizeof(float) * TOTAL);
    cudaMemcpy(d_row, h_row, sizeof(int) * ENTRIES, cudaMemcpyHostToDevice);
    cudaMemcpy(d_col, h_col, sizeof(int) * ENTRIES, cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, h_value, sizeof(float) * ENTRIES, cudaMemcpyHostToDevice);

    cudaMemset(d_dense, 0, TOTAL * sizeof(float));
    const int block = 256;
    const int grid = (ENTRIES + block - 1) / block;
    scatter_entries<<<grid, block>>>(d_row, d_col, d_value, d_dense, ENTRIES, COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_dense, d_dense, sizeof(float) * TOTAL, cudaMemcpyDeviceToHost);
    write_binary("data/dense.bin", h_dense, TOTAL);

    cudaFree(d_row);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_dense);
    delete[] h_row;
    delete[] h_col;
    delete[] h_value;
    delete[] h_dense;
    return 0;
}
