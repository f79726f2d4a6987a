const int ROWS = 60;
const int WORDS = 15;

__global__ void pack_signs(const float* x, const float* threshold, unsigned int* packed, int rows, int words) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (w >= words || r >= rows) return;
    const float* values = x + ((size_t)r * words + w) * 32;
    unsigned int bits = 0;
    for (int k = 0; k < 32; ++k) {
        if (values[k] > threshold[32 * w + k]) bits |= 1u << k;
    }
    packed[r * words + w] = bits;
}

int main() {
    const int threshold_size = WORDS * 32;
    const size_t packed_total = ROWS * WORDS;
    float* h_x = new float[ROWS * WORDS * 32];
    read_binary("data/x.bin", h_x, ROWS * WORDS * 32);
    float* h_threshold = new float[threshold_size];
    read_binary("data/threshold.bin", h_threshold, threshold_size);
    unsigned int* h_packed = new unsigned int[packed_total];

    float* d_x;
    float* d_threshold;
    unsigned int* d_packed;
    cudaMalloc(&d_x, ROWS * WORDS * 32 * sizeof(float));
    cudaMalloc(&d_threshold, threshold_size * sizeof(float));
    cudaMalloc(&d_packed, packed_total * sizeof(unsigned int));
    cudaMemcpy(d_x, h_x, ROWS * WORDS * 32 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_threshold, h_threshold, threshold_size * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(64);
    dim3 grid((WORDS + 63) / 64, ROWS);
    pack_signs<<<grid, block>>>(d_x, d_threshold, d_packed, ROWS, WORDS);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA error" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_packed, d_packed, packed_total * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/packed.bin", reinterpret_cast<const float*>(h_packed), packed_total);

    cudaFree(d_x);
    cudaFree(d_threshold);
    cudaFree(d_packed);
    delete[] h_x;
    delete[] h_threshold;
    delete[] h_packed;
    return 0;
}
