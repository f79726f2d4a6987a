const int VECTORS = 10;
const int BLOCKS = 12;
const int SIZE = 16;
const int LENGTH = BLOCKS * SIZE;

__global__ void apply_block_diagonal(const float* d, const float* x, float* y) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int v = blockIdx.y;
    if (p >= LENGTH) return;
    int first = p / SIZE * SIZE;
    const float* row = d + p * SIZE;
    const float* part = x + v * LENGTH + first;
    float sum = 0.0f;
    for (int c = 0; c < SIZE; ++c) sum += row[c] * part[c];
    y[v * LENGTH + p] = sum;
}

int main() {
    const int total = VECTORS * LENGTH;

    std::vector<float> h_d(BLOCKS * SIZE * SIZE);
    std::vector<float> h_x(total);
    std::vector<float> h_y(total);
    read_binary("data/d.bin", h_d.data(), BLOCKS * SIZE * SIZE);
    read_binary("data/x.bin", h_x.data(), total);

    float* d_d = nullptr;
    cudaMalloc(&d_d, BLOCKS * SIZE * SIZE * sizeof(float));
    cudaMemcpy(d_d, h_d.data(), BLOCKS * SIZE * SIZE * sizeof(float), cudaMemcpyHostToDevice);
    float* d_x = nullptr;
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_y = nullptr;
    cudaMalloc(&d_y, total * sizeof(float));

    dim3 grid((LENGTH + 127) / 128, VECTORS);
    apply_block_diagonal<<<grid, 128>>>(d_d, d_x, d_y);
    cudaDeviceSynchronize();

    cudaMemcpy(h_y.data(), d_y, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), total);

    cudaFree(d_d);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
