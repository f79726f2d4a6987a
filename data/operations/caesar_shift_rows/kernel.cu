#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 60
#define WIDTH 200

// One block per row builds the substitution table of its key once.
__global__ void caesar_rows(const unsigned char* __restrict__ text, const int* __restrict__ key,
                            unsigned char* __restrict__ cipher) {
    __shared__ unsigned char table[256];
    const int shift = (key[blockIdx.x] % 26 + 26) % 26;
    for (int ch = threadIdx.x; ch < 256; ch += blockDim.x) {
        const int base = ch >= 'A' && ch <= 'Z' ? 'A' : 'a';
        const int place = ch - base;
        const bool letter = place >= 0 && place < 26;
        table[ch] = letter ? base + (place + shift) % 26 : ch;
    }
    __syncthreads();
    const size_t row = (size_t)blockIdx.x * WIDTH;
    for (int i = threadIdx.x; i < WIDTH; i += blockDim.x) cipher[row + i] = table[text[row + i]];
}

int main() {
    std::vector<unsigned char> h_text(ROWS * WIDTH);
    std::vector<int> h_key(ROWS);
    std::vector<unsigned char> h_cipher(ROWS * WIDTH);
    std::ifstream f_text("data/text.bin", std::ios::binary);
    if (!f_text.read((char*)h_text.data(), ROWS * WIDTH * sizeof(unsigned char))) return 1;
    std::ifstream f_key("data/key.bin", std::ios::binary);
    if (!f_key.read((char*)h_key.data(), ROWS * sizeof(int))) return 1;
    unsigned char *d_text, *d_cipher;
    int *d_key;
    cudaMalloc(&d_text, ROWS * WIDTH * sizeof(unsigned char));
    cudaMalloc(&d_key, ROWS * sizeof(int));
    cudaMalloc(&d_cipher, ROWS * WIDTH * sizeof(unsigned char));
    cudaMemcpy(d_text, h_text.data(), ROWS * WIDTH * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_key, h_key.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);
    caesar_rows<<<ROWS, 128>>>(d_text, d_key, d_cipher);
    cudaMemcpy(h_cipher.data(), d_cipher, ROWS * WIDTH * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream("data/cipher.bin", std::ios::binary).write((char*)h_cipher.data(), ROWS * WIDTH);
    cudaFree(d_text);
    cudaFree(d_key);
    cudaFree(d_cipher);
    return 0;
}
