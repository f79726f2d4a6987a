#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int KEYS = 300;
constexpr int GROUPS = 4;

const int TOTAL = KEYS * GROUPS;

__global__ void base32(const unsigned char* raw, unsigned char* text) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= TOTAL) return;
    unsigned long long bits = 0;
    for (int k = 0; k < 5; k++) bits = bits << 8 | raw[5 * g + k];
    for (int k = 7; k >= 0; k--) {
        int v = (int)(bits & 31);
        text[8 * g + k] = v < 26 ? 'A' + v : '2' + v - 26;
        bits >>= 5;
    }
}

int main() {
    const size_t num_raw = KEYS * (GROUPS * 5);
    const size_t num_text = KEYS * (GROUPS * 8);
    std::vector<unsigned char> h_raw(num_raw);
    std::vector<unsigned char> h_text(num_text);
    std::ifstream file_raw("data/raw.bin", std::ios::binary);
    file_raw.read(reinterpret_cast<char*>(h_raw.data()), num_raw * sizeof(unsigned char));
    if (!file_raw) {
        std::cerr << "failed to read data/raw.bin" << std::endl;
        return 1;
    }

    unsigned char *d_raw, *d_text;
    cudaMalloc(&d_raw, num_raw * sizeof(unsigned char));
    cudaMalloc(&d_text, num_text * sizeof(unsigned char));
    cudaMemcpy(d_raw, h_raw.data(), num_raw * sizeof(unsigned char), cudaMemcpyHostToDevice);

    base32<<<(TOTAL + 255) / 256, 256>>>(d_raw, d_text);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_text.data(), d_text, num_text * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out("data/text.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(h_text.data()), num_text * sizeof(unsigned char));

    cudaFree(d_raw);
    cudaFree(d_text);
}
