#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 3000;

// Uses the product over the prime powers p^k of v: (1 + p + ... + p^k).
__global__ void classify_by_primes(const int* __restrict__ values, int* __restrict__ aliquot,
                                   signed char* __restrict__ kind) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const int v = values[i];
    int rest = v, all = 1;
    for (int p = 2; p * p <= rest; p += p == 2 ? 1 : 2) {
        if (rest % p) continue;
        int series = 1;
        do {
            series = series * p + 1;
            rest /= p;
        } while (rest % p == 0);
        all *= series;
    }
    if (rest > 1) all *= rest + 1;
    const int proper = all - v;
    aliquot[i] = proper;
    kind[i] = (signed char)((proper > v) - (proper < v));
}

int main() {
    std::vector<int> h_values(N);
    std::vector<int> h_aliquot(N);
    std::vector<signed char> h_kind(N);

    std::ifstream fin("data/values.bin", std::ios::binary);
    fin.read(reinterpret_cast<char*>(h_values.data()), N * sizeof(int));
    if (!fin) {
        std::cerr << "could not read data/values.bin" << std::endl;
        return 1;
    }

    int *d_values = nullptr, *d_aliquot = nullptr;
    signed char *d_kind = nullptr;
    cudaMalloc(&d_values, N * sizeof(int));
    cudaMalloc(&d_aliquot, N * sizeof(int));
    cudaMalloc(&d_kind, N * sizeof(signed char));
    cudaMemcpy(d_values, h_values.data(), N * sizeof(int), cudaMemcpyHostToDevice);

    classify_by_primes<<<(N + 128 - 1) / 128, 128>>>(d_values, d_aliquot, d_kind);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_aliquot.data(), d_aliquot, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kind.data(), d_kind, N * sizeof(signed char), cudaMemcpyDeviceToHost);
    std::ofstream out_aliquot("data/aliquot.bin", std::ios::binary);
    out_aliquot.write(reinterpret_cast<char*>(h_aliquot.data()), N * sizeof(int));
    std::ofstream out_kind("data/kind.bin", std::ios::binary);
    out_kind.write(reinterpret_cast<char*>(h_kind.data()), N * sizeof(signed char));

    cudaFree(d_values);
    cudaFree(d_aliquot);
    cudaFree(d_kind);
    return 0;
}
