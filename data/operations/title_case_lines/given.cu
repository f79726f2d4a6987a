const int ROWS = 80;
const int WIDTH = 150;

__device__ bool is_letter(unsigned char ch) {
    return (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z');
}

__global__ void capitalize(const unsigned char* lines, unsigned char* titled, int* words, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= width) return;
    int i = r * width + c;
    unsigned char ch = lines[i];
    if (is_letter(ch)) {
        bool first = c == 0 || !is_letter(lines[i - 1]);
        if (first) {
            if (ch >= 'a') ch -= 32;
            atomicAdd(&words[r], 1);
        } else if (ch <= 'Z') {
            ch += 32;
        }
    }
    titled[i] = ch;
}

int main() {
    const int count = ROWS * WIDTH;
    const size_t lines_floats = (count + 3) / 4;

    unsigned char* h_lines = new unsigned char[4 * lines_floats];
    read_binary("data/lines.bin", reinterpret_cast<float*>(h_lines), lines_floats);
    unsigned char* d_lines;
    cudaMalloc(&d_lines, count * sizeof(unsigned char));
    cudaMemcpy(d_lines, h_lines, count * sizeof(unsigned char), cudaMemcpyHostToDevice);

    unsigned char* h_titled = new unsigned char[count];
    unsigned char* d_titled;
    cudaMalloc(&d_titled, count * sizeof(unsigned char));
    int* h_words = new int[ROWS];
    int* d_words;
    cudaMalloc(&d_words, ROWS * sizeof(int));

    cudaMemset(d_words, 0, ROWS * sizeof(int));
    dim3 block(256);
    dim3 grid((WIDTH + 255) / 256, ROWS);
    capitalize<<<grid, block>>>(d_lines, d_titled, d_words, WIDTH);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA failure" << std::endl;
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_titled, d_titled, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_words, d_words, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream titled_file("data/titled.bin", std::ios::binary);
    titled_file.write(reinterpret_cast<const char*>(h_titled), count);
    write_binary("data/words.bin", reinterpret_cast<const float*>(h_words), ROWS);

    cudaFree(d_lines);
    cudaFree(d_titled);
    cudaFree(d_words);
    delete[] h_lines;
    delete[] h_titled;
    delete[] h_words;
    return 0;
}
