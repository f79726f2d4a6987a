constexpr int kBlockRows = 200;
constexpr int kBlocks = 1500;
constexpr int kSize = 3;

__global__ void row_norms(const int* row_start, const float* block, float* row_norm,
                          int block_rows, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= block_rows * size) return;
    int R = i / size, r = i % size;
    float sum = 0.0f;
    for (int b = row_start[R]; b < row_start[R + 1]; ++b) {
        const float* line = block + ((size_t)b * size + r) * size;
        for (int c = 0; c < size; ++c) sum += line[c] * line[c];
    }
    row_norm[i] = sqrtf(sum);
}

__global__ void block_norms(const float* block, float* block_norm, int blocks, int size) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    const float* entry = block + (size_t)b * size * size;
    float sum = 0.0f;
    for (int j = 0; j < size * size; ++j) sum += entry[j] * entry[j];
    block_norm[b] = sqrtf(sum);
}

int main() {
    const size_t row_start_total = kBlockRows + 1;
    const int block_total = kBlocks * kSize * kSize;
    const int row_norm_size = kBlockRows * kSize;

    int* h_row_start = new int[row_start_total];
    read_binary("data/row_start.bin", reinterpret_cast<float*>(h_row_start), row_start_total);
    float* h_block = new float[block_total];
    read_binary("data/block.bin", h_block, block_total);
    float* h_row_norm = new float[row_norm_size];
    float* h_block_norm = new float[kBlocks];

    int *d_row_start;
    float *d_block, *d_row_norm, *d_block_norm;
    cudaMalloc(&d_row_start, row_start_total * sizeof(int));
    cudaMalloc(&d_block, block_total * sizeof(float));
    cudaMalloc(&d_row_norm, row_norm_size * sizeof(float));
    cudaMalloc(&d_block_norm, kBlocks * sizeof(float));
    cudaMemcpy(d_row_start, h_row_start, row_start_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_block, h_block, block_total * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    row_norms<<<(row_norm_size + threads - 1) / threads, threads>>>(d_row_start, d_block, d_row_norm,
                                                                    kBlockRows, kSize);
    block_norms<<<(kBlocks + threads - 1) / threads, threads>>>(d_block, d_block_norm, kBlocks, kSize);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_row_norm, d_row_norm, row_norm_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/row_norm.bin", h_row_norm, row_norm_size);
    cudaMemcpy(h_block_norm, d_block_norm, kBlocks * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/block_norm.bin", h_block_norm, kBlocks);

    cudaFree(d_row_start);
    cudaFree(d_block);
    cudaFree(d_row_norm);
    cudaFree(d_block_norm);
    delete[] h_row_start;
    delete[] h_block;
    delete[] h_row_norm;
    delete[] h_block_norm;
    return 0;
}
