#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 300;
const int SIZE = 24;

__global__ void cycles(const int* next_index, int* cycle_count, int* longest, int* sign) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const int* p = next_index + r * SIZE;
    bool seen[SIZE];
    for (int i = 0; i < SIZE; ++i) seen[i] = false;
    int found = 0, best = 0;
    for (int i = 0; i < SIZE; ++i) {
        if (seen[i]) continue;
        int length = 0;
        for (int j = i; !seen[j]; j = p[j]) {
            seen[j] = true;
            ++length;
        }
        ++found;
        if (length > best) best = length;
    }
    cycle_count[r] = found;
    longest[r] = best;
    sign[r] = (SIZE - found) % 2 == 0 ? 1 : -1;
}

int main() {
    const size_t count = ROWS * SIZE;
    std::vector<int> h_next_index(count);
    std::vector<int> h_cycle_count(ROWS);
    std::vector<int> h_longest(ROWS);
    std::vector<int> h_sign(ROWS);

    std::ifstream input("data/next_index.bin", std::ios::binary);
    input.read((char*)(h_next_index.data()), count * sizeof(int));
    if (!input) {
        std::cerr << "could not read data/next_index.bin" << std::endl;
        return 1;
    }

    int *d_next_index = nullptr, *d_cycle_count = nullptr, *d_longest = nullptr, *d_sign = nullptr;
    cudaMalloc(&d_next_index, count * sizeof(int));
    cudaMalloc(&d_cycle_count, ROWS * sizeof(int));
    cudaMalloc(&d_longest, ROWS * sizeof(int));
    cudaMalloc(&d_sign, ROWS * sizeof(int));
    cudaMemcpy(d_next_index, h_next_index.data(), count * sizeof(int), cudaMemcpyHostToDevice);

    cycles<<<(ROWS + 128 - 1) / 128, 128>>>(d_next_index, d_cycle_count, d_longest, d_sign);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_cycle_count.data(), d_cycle_count, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_longest.data(), d_longest, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_sign.data(), d_sign, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_cycle_count("data/cycle_count.bin", std::ios::binary);
    out_cycle_count.write((char*)(h_cycle_count.data()), ROWS * sizeof(int));
    std::ofstream out_longest("data/longest.bin", std::ios::binary);
    out_longest.write((char*)(h_longest.data()), ROWS * sizeof(int));
    std::ofstream out_sign("data/sign.bin", std::ios::binary);
    out_sign.write((char*)(h_sign.data()), ROWS * sizeof(int));

    cudaFree(d_next_index);
    cudaFree(d_cycle_count);
    cudaFree(d_longest);
    cudaFree(d_sign);
    return 0;
}
