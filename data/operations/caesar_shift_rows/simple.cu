#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load(const std::string& path, T* dst, size_t n) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(dst), n * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
}

template <typename T>
void store(const std::string& path, const T* src, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(src), n * sizeof(T));
}
//@given

constexpr int ROWS = 60;
constexpr int WIDTH = 200;

__global__ void caesar(const unsigned char* text, const int* key, unsigned char* cipher) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * WIDTH) return;
    int shift = key[i / WIDTH] % 26;
    if (shift < 0) shift += 26;
    unsigned char ch = text[i];
    if (ch >= 'A' && ch <= 'Z') {
        ch = 'A' + (ch - 'A' + shift) % 26;
    } else if (ch >= 'a' && ch <= 'z') {
        ch = 'a' + (ch - 'a' + shift) % 26;
    }
    cipher[i] = ch;
}

int main() {
    unsigned char* h_text = new unsigned char[ROWS * WIDTH];
    int* h_key = new int[ROWS];
    unsigned char* h_cipher = new unsigned char[ROWS * WIDTH];
    load("data/text.bin", h_text, ROWS * WIDTH);
    load("data/key.bin", h_key, ROWS);

    unsigned char* d_text;
    cudaMalloc(&d_text, ROWS * WIDTH * sizeof(unsigned char));
    int* d_key;
    cudaMalloc(&d_key, ROWS * sizeof(int));
    unsigned char* d_cipher;
    cudaMalloc(&d_cipher, ROWS * WIDTH * sizeof(unsigned char));
    cudaMemcpy(d_text, h_text, ROWS * WIDTH * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_key, h_key, ROWS * sizeof(int), cudaMemcpyHostToDevice);

    caesar<<<(ROWS * WIDTH + 255) / 256, 256>>>(d_text, d_key, d_cipher);

    cudaMemcpy(h_cipher, d_cipher, ROWS * WIDTH * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    store("data/cipher.bin", h_cipher, ROWS * WIDTH);

    cudaFree(d_text);
    cudaFree(d_key);
    cudaFree(d_cipher);
    delete[] h_text;
    delete[] h_key;
    delete[] h_cipher;
    return 0;
}
