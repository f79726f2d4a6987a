#define ROWS 300
#define COLS 65

__global__ void row_quantifiers(const unsigned char* mask, unsigned char* flags, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int count = 0;
    for (int c = 0; c < cols; ++c) {
        if (mask[r * cols + c] != 0) ++count;
    }
    int bits = 0;
    if (count > 0) bits |= 1;
    if (count == cols) bits |= 2;
    if (count == 1) bits |= 4;
    if (count % 2 == 1) bits |= 8;
    flags[r] = (unsigned char)bits;
}

int main() {
    const int count = ROWS * COLS;

    unsigned char* h_mask = new unsigned char[(count + 3) / 4 * 4];
    read_binary("data/mask.bin", reinterpret_cast<float*>(h_mask), (count + 3) / 4);
    unsigned char* h_flags = new unsigned char[ROWS];

    unsigned char* d_mask;
    unsigned char* d_flags;
    cudaMalloc((void**)&d_mask, count * sizeof(unsigned char));
    cudaMemcpy(d_mask, h_mask, count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMalloc((void**)&d_flags, ROWS * sizeof(unsigned char));

    int blockSize = 128;
    int gridSize = (ROWS + blockSize - 1) / blockSize;
    row_quantifiers<<<gridSize, blockSize>>>(d_mask, d_flags, ROWS, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_flags, d_flags, ROWS * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/flags.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_flags), ROWS);
    out.close();

    delete[] h_mask;
    delete[] h_flags;
    cudaFree(d_mask);
    cudaFree(d_flags);
    return 0;
}
