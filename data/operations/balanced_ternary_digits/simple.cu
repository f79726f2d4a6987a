#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 1500;

__global__ void balanced_ternary(const int* numbers, int8_t* digits, int* nonzero) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    long long v = numbers[i];
    int used = 0;
    for (int k = 0; k < 21; ++k) {
        int d = (int)(v % 3);
        if (d == 2) d = -1;
        if (d == -2) d = 1;
        digits[(size_t)i * 21 + k] = (int8_t)d;
        if (d != 0) ++used;
        v = (v - d) / 3;
    }
    nonzero[i] = used;
}

int main() {
    const size_t n = N * 21;
    std::vector<int> h_numbers(N);
    std::vector<int8_t> h_digits(n);
    std::vector<int> h_nonzero(N);

    std::ifstream input("data/numbers.bin", std::ios::binary);
    input.read(reinterpret_cast<char*>(h_numbers.data()), N * sizeof(int));
    if (!input) {
        std::cerr << "could not read data/numbers.bin" << std::endl;
        return 1;
    }

    int *d_numbers = nullptr, *d_nonzero = nullptr;
    int8_t *d_digits = nullptr;
    cudaMalloc(&d_numbers, N * sizeof(int));
    cudaMalloc(&d_digits, n * sizeof(int8_t));
    cudaMalloc(&d_nonzero, N * sizeof(int));
    cudaMemcpy(d_numbers, h_numbers.data(), N * sizeof(int), cudaMemcpyHostToDevice);

    balanced_ternary<<<(N + 256 - 1) / 256, 256>>>(d_numbers, d_digits, d_nonzero);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    cudaMemcpy(h_digits.data(), d_digits, n * sizeof(int8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_nonzero.data(), d_nonzero, N * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_digits("data/digits.bin", std::ios::binary);
    out_digits.write(reinterpret_cast<char*>(h_digits.data()), n * sizeof(int8_t));
    std::ofstream out_nonzero("data/nonzero.bin", std::ios::binary);
    out_nonzero.write(reinterpret_cast<char*>(h_nonzero.data()), N * sizeof(int));

    cudaFree(d_numbers);
    cudaFree(d_digits);
    cudaFree(d_nonzero);
    return 0;
}
