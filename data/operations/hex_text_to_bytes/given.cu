#define RECORDS 150
#define DIGITS 64
const int BYTES = DIGITS / 2;

__device__ int hex_value(unsigned char ch) {
    if (ch >= '0' && ch <= '9') return ch - '0';
    if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
    return -1;
}

__global__ void decode_hex(const unsigned char* text, unsigned char* bytes, int* invalid, int records,
                           int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= records * width) return;
    int high = hex_value(text[2 * i]);
    int low = hex_value(text[2 * i + 1]);
    int errors = (high < 0) + (low < 0);
    if (errors > 0) atomicAdd(&invalid[i / width], errors);
    bytes[i] = (unsigned char)(max(high, 0) * 16 + max(low, 0));
}

int main() {
    const int bytes_total = RECORDS * BYTES;
    const size_t text_floats = (RECORDS * DIGITS + 3) / 4;
    std::vector<unsigned char> h_text(4 * text_floats);
    read_binary("data/text.bin", reinterpret_cast<float*>(h_text.data()), text_floats);
    unsigned char *d_text, *d_bytes;
    int *d_invalid;
    cudaMalloc(&d_text, RECORDS * DIGITS * sizeof(unsigned char));
    cudaMalloc(&d_bytes, bytes_total * sizeof(unsigned char));
    cudaMalloc(&d_invalid, RECORDS * sizeof(int));
    cudaMemcpy(d_text, h_text.data(), RECORDS * DIGITS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    cudaMemset(d_invalid, 0, RECORDS * sizeof(int));
    int threads = 256;
    int blocks = (bytes_total + threads - 1) / threads;
    decode_hex<<<blocks, threads>>>(d_text, d_bytes, d_invalid, RECORDS, BYTES);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA failure" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    std::vector<unsigned char> h_bytes(bytes_total);
    cudaMemcpy(h_bytes.data(), d_bytes, bytes_total * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream bytes_file("data/bytes.bin", std::ios::binary);
    bytes_file.write(reinterpret_cast<const char*>(h_bytes.data()), bytes_total);
    std::vector<int> h_invalid(RECORDS);
    cudaMemcpy(h_invalid.data(), d_invalid, RECORDS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/invalid.bin", reinterpret_cast<const float*>(h_invalid.data()), RECORDS);

    cudaFree(d_text);
    cudaFree(d_bytes);
    cudaFree(d_invalid);
    return 0;
}
