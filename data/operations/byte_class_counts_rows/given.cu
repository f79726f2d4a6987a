constexpr int kRecords = 200;
constexpr int kWidth = 100;

__device__ int byte_class(uint8_t ch) {
    uint8_t low = ch | 32;
    if (low >= 'a' && low <= 'z') {
        bool vowel = low == 'a' || low == 'e' || low == 'i' || low == 'o' || low == 'u';
        return vowel ? 0 : 1;
    }
    if (ch >= '0' && ch <= '9') return 2;
    if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') return 3;
    return 4;
}

__global__ void count_classes(const uint8_t* text, int* counts, int records, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= records) return;
    int found[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < width; ++i) {
        found[byte_class(text[r * width + i])] += 1;
    }
    for (int k = 0; k < 5; ++k) counts[r * 5 + k] = found[k];
}

int main() {
    const size_t text_size = kRecords * kWidth;
    const int counts_count = kRecords * 5;
    const size_t text_floats = (text_size + 3) / 4;
    uint8_t* h_text = new uint8_t[4 * text_floats];
    read_binary("data/text.bin", reinterpret_cast<float*>(h_text), text_floats);

    uint8_t* d_text;
    int* d_counts;
    cudaMalloc(&d_text, text_size * sizeof(uint8_t));
    cudaMalloc(&d_counts, counts_count * sizeof(int));
    cudaMemcpy(d_text, h_text, text_size * sizeof(uint8_t), cudaMemcpyHostToDevice);

    const int threads = 128;
    count_classes<<<(kRecords + threads - 1) / threads, threads>>>(d_text, d_counts, kRecords, kWidth);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "byte kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    int* h_counts = new int[counts_count];
    cudaMemcpy(h_counts, d_counts, counts_count * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/counts.bin", reinterpret_cast<const float*>(h_counts), counts_count);

    delete[] h_text;
    delete[] h_counts;
    cudaFree(d_text);
    cudaFree(d_counts);
    return 0;
}
