const int ROWS = 30;
const int COLS = 800;
const int BLOCK = 128;

__global__ void classify(const unsigned int* bits, int* counts, int cols) {
    __shared__ int total[5];
    int t = threadIdx.x;
    if (t < 5) total[t] = 0;
    __syncthreads();
    for (int c = t; c < cols; c += BLOCK) {
        unsigned int b = bits[(size_t)blockIdx.x * cols + c];
        unsigned int exponent = (b >> 23) & 0xffu;
        unsigned int fraction = b & 0x7fffffu;
        int kind = 2;
        if (exponent == 0) kind = fraction == 0 ? 0 : 1;
        else if (exponent == 255) kind = fraction == 0 ? 3 : 4;
        atomicAdd(&total[kind], 1);
    }
    __syncthreads();
    if (t < 5) counts[blockIdx.x * 5 + t] = total[t];
}

int main() {
    const size_t num_bits = ROWS * COLS;
    const size_t num_counts = (size_t)ROWS * 5;
    const size_t bits_bytes = num_bits * sizeof(unsigned int);
    const size_t counts_bytes = num_counts * sizeof(int);

    unsigned int* h_bits = new unsigned int[num_bits];
    int* h_counts = new int[num_counts];

    read_binary("data/bits.bin", reinterpret_cast<float*>(h_bits), num_bits);

    unsigned int *d_bits;
    int *d_counts;
    cudaMalloc(&d_bits, bits_bytes);
    cudaMalloc(&d_counts, counts_bytes);

    cudaMemcpy(d_bits, h_bits, bits_bytes, cudaMemcpyHostToDevice);

    const int blocks = ROWS;
    classify<<<blocks, BLOCK>>>(d_bits, d_counts, COLS);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_counts, d_counts, counts_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/counts.bin", reinterpret_cast<const float*>(h_counts), num_counts);

    delete[] h_bits;
    delete[] h_counts;
    cudaFree(d_bits);
    cudaFree(d_counts);
    return 0;
}
