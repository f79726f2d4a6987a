#define BATCH 20
#define ROW_WORDS 4
#define COL_WORDS 9

__global__ void gf2_product(const unsigned int* matrix, const unsigned int* x, unsigned int* y, int batch,
                            int row_words, int col_words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * row_words) return;
    int b = i / row_words;
    int w = i % row_words;
    unsigned int word = 0;
    for (int bit = 0; bit < 32; bit++) {
        int row = w * 32 + bit;
        unsigned int acc = 0;
        for (int k = 0; k < col_words; k++) acc ^= matrix[row * col_words + k] & x[b * col_words + k];
        word |= (unsigned int)(__popc(acc) & 1) << bit;
    }
    y[i] = word;
}

int main() {
    const size_t matrix_count = ROW_WORDS * 32 * COL_WORDS;
    const int y_count = BATCH * ROW_WORDS;

    unsigned int* h_matrix = new unsigned int[matrix_count];
    read_binary("data/matrix.bin", reinterpret_cast<float*>(h_matrix), matrix_count);
    unsigned int* d_matrix = nullptr;
    cudaMalloc(&d_matrix, matrix_count * sizeof(unsigned int));
    cudaMemcpy(d_matrix, h_matrix, matrix_count * sizeof(unsigned int), cudaMemcpyHostToDevice);

    unsigned int* h_x = new unsigned int[BATCH * COL_WORDS];
    read_binary("data/x.bin", reinterpret_cast<float*>(h_x), BATCH * COL_WORDS);
    unsigned int* d_x = nullptr;
    cudaMalloc(&d_x, BATCH * COL_WORDS * sizeof(unsigned int));
    cudaMemcpy(d_x, h_x, BATCH * COL_WORDS * sizeof(unsigned int), cudaMemcpyHostToDevice);

    unsigned int* h_y = new unsigned int[y_count];
    unsigned int* d_y = nullptr;
    cudaMalloc(&d_y, y_count * sizeof(unsigned int));

    const int threads = 256;
    const int blocks = (y_count + threads - 1) / threads;
    gf2_product<<<blocks, threads>>>(d_matrix, d_x, d_y, BATCH, ROW_WORDS, COL_WORDS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "error" << "\n";
        return 1;
    }

    cudaMemcpy(h_y, d_y, y_count * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", reinterpret_cast<const float*>(h_y), y_count);

    cudaFree(d_matrix);
    delete[] h_matrix;
    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_y);
    delete[] h_y;
    return 0;
}
