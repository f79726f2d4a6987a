#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int ROWS = 80;
const int WIDTH = 150;

__device__ bool is_letter(unsigned char ch) {
    return (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z');
}

__global__ void title_case(const unsigned char* lines, unsigned char* titled, int* words) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= WIDTH) return;
    int i = r * WIDTH + c;
    unsigned char ch = lines[i];
    if (is_letter(ch)) {
        bool start = c == 0 || !is_letter(lines[i - 1]);
        if (start) {
            ch &= ~32;
            atomicAdd(&words[r], 1);
        } else {
            ch |= 32;
        }
    }
    titled[i] = ch;
}

int main() {
    unsigned char* lines = nullptr;
    unsigned char* titled = nullptr;
    int* words = nullptr;
    cudaMallocManaged(&lines, sizeof(unsigned char) * ROWS * WIDTH);
    cudaMallocManaged(&titled, sizeof(unsigned char) * ROWS * WIDTH);
    cudaMallocManaged(&words, sizeof(int) * ROWS);

    std::ifstream in_lines("data/lines.bin", std::ios::binary);
    if (!in_lines.read((char*)lines, sizeof(unsigned char) * ROWS * WIDTH)) {
        std::cerr << "cannot read data/lines.bin\n";
        return 1;
    }

    cudaMemset(words, 0, ROWS * sizeof(int));
    dim3 grid((WIDTH + 255) / 256, ROWS);
    title_case<<<grid, 256>>>(lines, titled, words);
    if (cudaError_t status = cudaDeviceSynchronize()) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::ofstream out_titled("data/titled.bin", std::ios::binary);
    out_titled.write((char*)titled, sizeof(unsigned char) * ROWS * WIDTH);
    std::ofstream out_words("data/words.bin", std::ios::binary);
    out_words.write((char*)words, sizeof(int) * ROWS);

    cudaFree(lines);
    cudaFree(titled);
    cudaFree(words);
    return 0;
}
