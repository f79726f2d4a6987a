#define P 7
#define Q 9
#define R 8
#define S 10
#define OUT_ROWS (P * R)
#define OUT_COLS (Q * S)

__global__ void kronecker(const float* a, const float* b, float* k) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < OUT_ROWS * OUT_COLS) {
        int row = index / OUT_COLS;
        int col = index % OUT_COLS;
        k[index] = a[(row / R) * Q + col / S] * b[(row % R) * S + col % S];
    }
}

int main() {
    const size_t a_count = P * Q;
    const int k_count = OUT_ROWS * OUT_COLS;

    float* h_a = new float[a_count];
    float* h_b = new float[R * S];
    float* h_k = new float[k_count];

    read_binary("data/a.bin", h_a, a_count);
    read_binary("data/b.bin", h_b, R * S);

    float *d_a, *d_b, *d_k;
    cudaMalloc(&d_a, a_count * sizeof(float));
    cudaMalloc(&d_b, R * S * sizeof(float));
    cudaMalloc(&d_k, k_count * sizeof(float));
    cudaMemcpy(d_a, h_a, a_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, R * S * sizeof(float), cudaMemcpyHostToDevice);

    int block = 256;
    int grid = (k_count + block - 1) / block;
    kronecker<<<grid, block>>>(d_a, d_b, d_k);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    cudaMemcpy(h_k, d_k, k_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/k.bin", h_k, k_count);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_k);
    delete[] h_a;
    delete[] h_b;
    delete[] h_k;
    return 0;
}
