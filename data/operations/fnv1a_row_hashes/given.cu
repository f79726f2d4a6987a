constexpr int kRows = 400;
constexpr int kWidth = 60;

__global__ void hash_rows(const uint8_t* text, const int* lengths, uint32_t* hashes, int* slots,
                          int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    uint32_t h = 2166136261u;
    for (int i = 0; i < lengths[r]; ++i) {
        h ^= text[r * width + i];
        h *= 16777619u;
    }
    hashes[r] = h;
    slots[r] = (int)(h % 10007u);
}

int main() {
    const size_t text_floats = (kRows * kWidth + 3) / 4;
    uint8_t* h_text = new uint8_t[4 * text_floats];
    int* h_lengths = new int[kRows];
    read_binary("data/text.bin", reinterpret_cast<float*>(h_text), text_floats);
    read_binary("data/lengths.bin", reinterpret_cast<float*>(h_lengths), kRows);

    uint8_t* d_text = nullptr;
    int* d_lengths = nullptr;
    uint32_t* d_hashes = nullptr;
    int* d_slots = nullptr;
    cudaMalloc(&d_text, sizeof(uint8_t) * kRows * kWidth);
    cudaMalloc(&d_lengths, sizeof(int) * kRows);
    cudaMalloc(&d_hashes, sizeof(uint32_t) * kRows);
    cudaMalloc(&d_slots, sizeof(int) * kRows);
    cudaMemcpy(d_text, h_text, sizeof(uint8_t) * kRows * kWidth, cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths, sizeof(int) * kRows, cudaMemcpyHostToDevice);

    const int block = 128;
    const int grid = (kRows + block - 1) / block;
    hash_rows<<<grid, block>>>(d_text, d_lengths, d_hashes, d_slots, kRows, kWidth);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "fnv1a kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    uint32_t* h_hashes = new uint32_t[kRows];
    cudaMemcpy(h_hashes, d_hashes, sizeof(uint32_t) * kRows, cudaMemcpyDeviceToHost);
    write_binary("data/hashes.bin", reinterpret_cast<const float*>(h_hashes), kRows);
    int* h_slots = new int[kRows];
    cudaMemcpy(h_slots, d_slots, sizeof(int) * kRows, cudaMemcpyDeviceToHost);
    write_binary("data/slots.bin", reinterpret_cast<const float*>(h_slots), kRows);

    cudaFree(d_text);
    delete[] h_text;
    cudaFree(d_lengths);
    delete[] h_lengths;
    cudaFree(d_hashes);
    delete[] h_hashes;
    cudaFree(d_slots);
    delete[] h_slots;
    return 0;
}
