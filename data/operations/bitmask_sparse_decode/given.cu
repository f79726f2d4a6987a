#define ROWS 40
#define WORDS 10
#define TOTAL 5000

__global__ void decode(const unsigned int* mask, const int* offsets, const float* packed, float* dense,
                       int rows, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * words) return;
    int row = i / words;
    int w = i % words;
    int pos = offsets[row];
    for (int k = 0; k < w; k++) pos += __popc(mask[row * words + k]);
    unsigned int bits = mask[i];
    for (int k = 0; k < 32; k++) {
        float v = 0.0f;
        if ((bits >> k) & 1u) v = packed[pos++];
        dense[(size_t)i * 32 + k] = v;
    }
}

int main() {
    const int mask_count = ROWS * WORDS;
    const int offsets_total = ROWS + 1;

    std::vector<unsigned int> h_mask(mask_count);
    read_binary("data/mask.bin", reinterpret_cast<float*>(h_mask.data()), mask_count);
    std::vector<int> h_offsets(offsets_total);
    read_binary("data/offsets.bin", reinterpret_cast<float*>(h_offsets.data()), offsets_total);
    std::vector<float> h_packed(TOTAL);
    read_binary("data/packed.bin", h_packed.data(), TOTAL);

    unsigned int* d_mask = nullptr;
    int* d_offsets = nullptr;
    float* d_packed = nullptr;
    float* d_dense = nullptr;
    cudaMalloc(&d_mask, mask_count * sizeof(unsigned int));
    cudaMemcpy(d_mask, h_mask.data(), mask_count * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_offsets, offsets_total * sizeof(int));
    cudaMemcpy(d_offsets, h_offsets.data(), offsets_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_packed, sizeof(float) * TOTAL);
    cudaMemcpy(d_packed, h_packed.data(), sizeof(float) * TOTAL, cudaMemcpyHostToDevice);
    cudaMalloc(&d_dense, sizeof(float) * ROWS * WORDS * 32);

    const int block = 128;
    const int blocks = (mask_count + block - 1) / block;
    decode<<<blocks, block>>>(d_mask, d_offsets, d_packed, d_dense, ROWS, WORDS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::vector<float> h_dense(ROWS * WORDS * 32);
    cudaMemcpy(h_dense.data(), d_dense, sizeof(float) * ROWS * WORDS * 32, cudaMemcpyDeviceToHost);
    write_binary("data/dense.bin", h_dense.data(), ROWS * WORDS * 32);

    cudaFree(d_mask);
    cudaFree(d_offsets);
    cudaFree(d_packed);
    cudaFree(d_dense);
    return 0;
}
