#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define P 7
#define Q 9
#define R 8
#define S 10
#define OUT_ROWS (P * R)
#define OUT_COLS (Q * S)

__global__ void kronecker(const float* a, const float* b, float* k) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < OUT_ROWS * OUT_COLS) {
        int row = index / OUT_COLS;
        int col = index % OUT_COLS;
        k[index] = a[(row / R) * Q + col / S] * b[(row % R) * S + col % S];
    }
}

int main() {
    const size_t a_elems = (size_t)P * Q;
    const size_t b_elems = (size_t)R * S;
    const size_t k_elems = (size_t)P * R * Q * S;
    std::vector<float> hA(a_elems), hB(b_elems), hK(k_elems);
    std::ifstream in_a("data/a.bin", std::ios::binary);
    if (!in_a.read((char*)hA.data(), a_elems * sizeof(float))) { std::cerr << "data/a.bin\n"; return 1; }
    std::ifstream in_b("data/b.bin", std::ios::binary);
    if (!in_b.read((char*)hB.data(), b_elems * sizeof(float))) { std::cerr << "data/b.bin\n"; return 1; }
    float *dA, *dB, *dK;
    cudaMalloc(&dA, a_elems * sizeof(float));
    cudaMemcpy(dA, hA.data(), a_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dB, b_elems * sizeof(float));
    cudaMemcpy(dB, hB.data(), b_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&dK, k_elems * sizeof(float));
    int total = OUT_ROWS * OUT_COLS;
    kronecker<<<(total + 255) / 256, 256>>>(dA, dB, dK);
    cudaMemcpy(hK.data(), dK, k_elems * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/k.bin", std::ios::binary).write((char*)hK.data(), k_elems * sizeof(float));
}
