constexpr int N = 1500;
constexpr int WIDTH = 5;
constexpr int SWEEPS = 10;

__global__ void jacobi(const int* col, const float* value, const float* diagonal, const float* b,
                       const float* x, float* x_new, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float rest = b[i];
    for (int k = 0; k < width; ++k) {
        int c = col[k * n + i];
        if (c >= 0) rest -= value[k * n + i] * x[c];
    }
    x_new[i] = rest / diagonal[i];
}

int main() {
    const size_t elements = WIDTH * N;
    int* h_col = new int[elements];
    read_binary("data/col.bin", reinterpret_cast<float*>(h_col), elements);
    int* d_col;
    cudaMalloc(&d_col, elements * sizeof(int));
    cudaMemcpy(d_col, h_col, elements * sizeof(int), cudaMemcpyHostToDevice);

    float* h_value = new float[elements];
    read_binary("data/value.bin", h_value, elements);
    float* d_value;
    cudaMalloc(&d_value, elements * sizeof(float));
    cudaMemcpy(d_value, h_value, elements * sizeof(float), cudaMemcpyHostToDevice);

    float* h_diagonal = new float[N];
    read_binary("data/diagonal.bin", h_diagonal, N);
    float* d_diagonal;
    cudaMalloc(&d_diagonal, N * sizeof(float));
    cudaMemcpy(d_diagonal, h_diagonal, N * sizeof(float), cudaMemcpyHostToDevice);

    float* h_b = new float[N];
    read_binary("data/b.bin", h_b, N);
    float* d_b;
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMemcpy(d_b, h_b, N * sizeof(float), cudaMemcpyHostToDevice);

    float* h_x = new float[N];
    float* d_x;
    cudaMalloc(&d_x, N * sizeof(float));
    float* d_other;
    cudaMalloc(&d_other, N * sizeof(float));

    cudaMemset(d_x, 0, N * sizeof(float));
    const int block = 256;
    const int grid = (N + block - 1) / block;
    for (int s = 0; s < SWEEPS; s += 2) {
        jacobi<<<grid, block>>>(d_col, d_value, d_diagonal, d_b, d_x, d_other, N, WIDTH);
        jacobi<<<grid, block>>>(d_col, d_value, d_diagonal, d_b, d_other, d_x, N, WIDTH);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "jacobi kernel\n";
        return 1;
    }

    cudaMemcpy(h_x, d_x, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/x.bin", h_x, N);

    cudaFree(d_col);
    delete[] h_col;
    cudaFree(d_value);
    delete[] h_value;
    cudaFree(d_diagonal);
    delete[] h_diagonal;
    cudaFree(d_b);
    delete[] h_b;
    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_other);
    return 0;
}
