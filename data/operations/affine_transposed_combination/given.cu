#define N 100

__global__ void combine_transposed(const float* a, const float* b, float* c, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float value = 1.5f * a[row * n + col] - 0.75f * b[col * n + row];
        if (row == col) value += 2.0f;
        c[row * n + col] = value;
    }
}

int main() {
    const int count = N * N;
    std::vector<float> h_a(count);
    std::vector<float> h_b(count);
    read_binary("data/a.bin", h_a.data(), count);
    read_binary("data/b.bin", h_b.data(), count);
    float* d_a;
    float* d_b;
    float* d_c;
    cudaMalloc(&d_a, count * sizeof(float));
    cudaMalloc(&d_b, count * sizeof(float));
    cudaMalloc(&d_c, count * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((N + 15) / 16, (N + 15) / 16);
    combine_transposed<<<grid, block>>>(d_a, d_b, d_c, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::vector<float> h_c(count);
    cudaMemcpy(h_c.data(), d_c, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/c.bin", h_c.data(), count);

    cudaFree(d_c);
    cudaFree(d_b);
    cudaFree(d_a);
    return 0;
}
