#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void fetch(const std::string& path, int* buf, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(buf), count * sizeof(int));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void dump(const std::string& path, const int* buf, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buf), count * sizeof(int));
}
//@given

constexpr int kEntries = 1000;
constexpr int kN = 6000;

__device__ int count_below(const int* table, int key, bool inclusive) {
    int lo = 0, hi = kEntries;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        bool below = inclusive ? table[mid] <= key : table[mid] < key;
        if (below) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

__global__ void look_up(const int* table, const int* keys, int* position, int* copies) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    int first = count_below(table, keys[i], false);
    position[i] = first;
    copies[i] = count_below(table, keys[i], true) - first;
}

int main() {
    int* h_table = new int[kEntries];
    int* h_keys = new int[kN];
    int* h_position = new int[kN];
    int* h_copies = new int[kN];
    fetch("data/table.bin", h_table, kEntries);
    fetch("data/keys.bin", h_keys, kN);

    int* d_table;
    cudaMalloc(&d_table, kEntries * sizeof(int));
    int* d_keys;
    cudaMalloc(&d_keys, kN * sizeof(int));
    int* d_position;
    cudaMalloc(&d_position, kN * sizeof(int));
    int* d_copies;
    cudaMalloc(&d_copies, kN * sizeof(int));
    cudaMemcpy(d_table, h_table, kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_keys, h_keys, kN * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 256;
    look_up<<<(kN + threads - 1) / threads, threads>>>(d_table, d_keys, d_position, d_copies);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_position, d_position, kN * sizeof(int), cudaMemcpyDeviceToHost);
    dump("data/position.bin", h_position, kN);
    cudaMemcpy(h_copies, d_copies, kN * sizeof(int), cudaMemcpyDeviceToHost);
    dump("data/copies.bin", h_copies, kN);

    delete[] h_table;
    delete[] h_keys;
    delete[] h_position;
    delete[] h_copies;
    cudaFree(d_table);
    cudaFree(d_keys);
    cudaFree(d_position);
    cudaFree(d_copies);
    return 0;
}
