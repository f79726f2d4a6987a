constexpr int ROWS = 300;
constexpr int WIDTH = 80;
constexpr int LETTERS = 6;

__device__ unsigned char to_lower(unsigned char ch) {
    return ch >= 'A' && ch <= 'Z' ? ch + 32 : ch;
}

__global__ void match_rows(const unsigned char* lines, const unsigned char* pattern, int* matched, int* last,
                           int rows, int width, int letters) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int k = 0;
    int end = -1;
    for (int c = 0; c < width && k < letters; c++) {
        if (to_lower(lines[r * width + c]) == to_lower(pattern[k])) {
            k++;
            end = c;
        }
    }
    matched[r] = k;
    last[r] = k == letters ? end : -1;
}

int main() {
    const size_t lines_floats = (ROWS * WIDTH + 3) / 4;
    const size_t pattern_floats = (LETTERS + 3) / 4;
    unsigned char* h_lines = new unsigned char[4 * lines_floats];
    unsigned char* h_pattern = new unsigned char[4 * pattern_floats];
    int* h_matched = new int[ROWS];
    int* h_last = new int[ROWS];

    read_binary("data/lines.bin", reinterpret_cast<float*>(h_lines), lines_floats);
    read_binary("data/pattern.bin", reinterpret_cast<float*>(h_pattern), pattern_floats);

    unsigned char* d_lines = nullptr;
    unsigned char* d_pattern = nullptr;
    int* d_matched = nullptr;
    int* d_last = nullptr;
    cudaMalloc(&d_lines, ROWS * WIDTH * sizeof(unsigned char));
    cudaMalloc(&d_pattern, LETTERS * sizeof(unsigned char));
    cudaMalloc(&d_matched, ROWS * sizeof(int));
    cudaMalloc(&d_last, ROWS * sizeof(int));
    cudaMemcpy(d_lines, h_lines, ROWS * WIDTH * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pattern, h_pattern, LETTERS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((ROWS + block.x - 1) / block.x);
    match_rows<<<grid, block>>>(d_lines, d_pattern, d_matched, d_last, ROWS, WIDTH, LETTERS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "subsequence kernel: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_matched, d_matched, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/matched.bin", reinterpret_cast<const float*>(h_matched), ROWS);
    cudaMemcpy(h_last, d_last, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/last.bin", reinterpret_cast<const float*>(h_last), ROWS);

    cudaFree(d_lines);
    cudaFree(d_pattern);
    cudaFree(d_matched);
    cudaFree(d_last);
    delete[] h_lines;
    delete[] h_pattern;
    delete[] h_matched;
    delete[] h_last;
    return 0;
}
