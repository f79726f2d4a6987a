#define ROWS 24
#define COLS 500
#define BLOCK 128

__global__ void weighted_gram(const float* a, const float* w, float* g, int rows, int cols) {
    __shared__ float partial[BLOCK];
    int i = blockIdx.y, j = blockIdx.x;
    if (j > i) return;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < cols; k += BLOCK) {
        sum += w[k] * a[i * cols + k] * a[j * cols + k];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float value = partial[0] / cols;
        if (i == j) value += 0.1f;
        g[i * rows + j] = value;
        g[j * rows + i] = value;
    }
}

int main() {
    const size_t a_count = ROWS * COLS;
    std::vector<float> h_a(a_count);
    read_binary("data/a.bin", h_a.data(), a_count);
    float* d_a;
    cudaMalloc(&d_a, a_count * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), a_count * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_w(COLS);
    read_binary("data/w.bin", h_w.data(), COLS);
    float* d_w;
    cudaMalloc(&d_w, sizeof(float) * COLS);
    cudaMemcpy(d_w, h_w.data(), sizeof(float) * COLS, cudaMemcpyHostToDevice);

    std::vector<float> h_g(ROWS * ROWS);
    float* d_g;
    cudaMalloc(&d_g, sizeof(float) * ROWS * ROWS);

    dim3 grid(ROWS, ROWS);
    weighted_gram<<<grid, BLOCK>>>(d_a, d_w, d_g, ROWS, COLS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    cudaMemcpy(h_g.data(), d_g, sizeof(float) * ROWS * ROWS, cudaMemcpyDeviceToHost);
    write_binary("data/g.bin", h_g.data(), ROWS * ROWS);

    cudaFree(d_g);
    cudaFree(d_w);
    cudaFree(d_a);
    return 0;
}
