constexpr int ROWS = 30;
constexpr int COLS = 900;
constexpr int BLOCK = 256;

__global__ void count_bits(const unsigned int* words, int* ones, int cols) {
    __shared__ int counts[32];
    int t = threadIdx.x;
    if (t < 32) counts[t] = 0;
    __syncthreads();
    int mine[32];
    for (int k = 0; k < 32; ++k) mine[k] = 0;
    const unsigned int* row = words + (size_t)blockIdx.x * cols;
    for (int c = t; c < cols; c += BLOCK) {
        unsigned int w = row[c];
        for (int k = 0; k < 32; ++k) mine[k] += (w >> k) & 1u;
    }
    for (int k = 0; k < 32; ++k) {
        if (mine[k] > 0) atomicAdd(&counts[k], mine[k]);
    }
    __syncthreads();
    if (t < 32) ones[blockIdx.x * 32 + t] = counts[t];
}

int main() {
    unsigned int* h_words = new unsigned int[ROWS * COLS];
    read_binary("data/words.bin", reinterpret_cast<float*>(h_words), ROWS * COLS);

    unsigned int* d_words = nullptr;
    cudaMalloc(&d_words, ROWS * COLS * sizeof(unsigned int));
    int* d_ones = nullptr;
    cudaMalloc(&d_ones, ROWS * 32 * sizeof(int));

    cudaMemcpy(d_words, h_words, ROWS * COLS * sizeof(unsigned int), cudaMemcpyHostToDevice);

    const int blocks = ROWS;
    count_bits<<<blocks, BLOCK>>>(d_words, d_ones, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "count_bits: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    int* h_ones = new int[ROWS * 32];
    cudaMemcpy(h_ones, d_ones, ROWS * 32 * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/ones.bin", reinterpret_cast<const float*>(h_ones), ROWS * 32);

    cudaFree(d_words);
    cudaFree(d_ones);
    delete[] h_words;
    delete[] h_ones;
    return 0;
}
