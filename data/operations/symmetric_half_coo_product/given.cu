#define N 800
#define ENTRIES 6000

__global__ void symmetric_product(const int* row, const int* col, const float* value, const float* x,
                                  float* y, int entries) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    int r = row[k];
    int c = col[k];
    atomicAdd(&y[r], value[k] * x[c]);
    if (r != c) atomicAdd(&y[c], value[k] * x[r]);
}

int main() {
    std::vector<int> h_row(ENTRIES);
    read_binary("data/row.bin", reinterpret_cast<float*>(h_row.data()), ENTRIES);
    std::vector<int> h_col(ENTRIES);
    read_binary("data/col.bin", reinterpret_cast<float*>(h_col.data()), ENTRIES);
    std::vector<float> h_value(ENTRIES);
    read_binary("data/value.bin", h_value.data(), ENTRIES);
    std::vector<float> h_x(N);
    read_binary("data/x.bin", h_x.data(), N);

    int *d_row, *d_col;
    float *d_value, *d_x, *d_y;
    cudaMalloc(&d_row, ENTRIES * sizeof(int));
    cudaMemcpy(d_row, h_row.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_col, ENTRIES * sizeof(int));
    cudaMemcpy(d_col, h_col.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_value, ENTRIES * sizeof(float));
    cudaMemcpy(d_value, h_value.data(), ENTRIES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, N * sizeof(float));

    cudaMemset(d_y, 0, N * sizeof(float));
    const int threads = 512;
    const int blocks = (ENTRIES + threads - 1) / threads;
    symmetric_product<<<blocks, threads>>>(d_row, d_col, d_value, d_x, d_y, ENTRIES);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::vector<float> h_y(N);
    cudaMemcpy(h_y.data(), d_y, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), N);

    cudaFree(d_row);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
