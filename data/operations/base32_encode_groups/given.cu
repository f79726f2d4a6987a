constexpr int KEYS = 300;
constexpr int GROUPS = 4;
const int TOTAL = KEYS * GROUPS;

__global__ void base32(const unsigned char* raw, unsigned char* text, int n) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= n) return;
    unsigned long long bits = 0;
    for (int k = 0; k < 5; k++) bits = bits << 8 | raw[5 * g + k];
    for (int k = 7; k >= 0; k--) {
        int v = (int)(bits & 31);
        text[8 * g + k] = v < 26 ? 'A' + v : '2' + v - 26;
        bits >>= 5;
    }
}

int main() {
    const size_t raw_total = KEYS * GROUPS * 5;
    const size_t raw_floats = (raw_total + 3) / 4;
    unsigned char* h_raw = new unsigned char[4 * raw_floats];
    unsigned char* h_text = new unsigned char[KEYS * GROUPS * 8];
    read_binary("data/raw.bin", reinterpret_cast<float*>(h_raw), raw_floats);

    unsigned char* d_raw = nullptr;
    cudaMalloc(&d_raw, raw_total * sizeof(unsigned char));
    cudaMemcpy(d_raw, h_raw, raw_total * sizeof(unsigned char), cudaMemcpyHostToDevice);
    unsigned char* d_text = nullptr;
    cudaMalloc(&d_text, KEYS * GROUPS * 8 * sizeof(unsigned char));

    dim3 block(256);
    dim3 grid((TOTAL + block.x - 1) / block.x);
    base32<<<grid, block>>>(d_raw, d_text, TOTAL);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_text, d_text, KEYS * GROUPS * 8 * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream text_file("data/text.bin", std::ios::binary);
    text_file.write(reinterpret_cast<const char*>(h_text), KEYS * GROUPS * 8);

    cudaFree(d_raw);
    cudaFree(d_text);
    delete[] h_raw;
    delete[] h_text;
    return 0;
}
