#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& filename, int* buffer, size_t count) {
    std::ifstream file(filename, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(buffer), count * sizeof(int))) {
        std::cerr << "cannot read " << filename << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& filename, const int* buffer, size_t count) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(int));
}
//@given

constexpr int kRows = 50;
constexpr int kCols = 60;
constexpr int kUpdates = 300;

__global__ void scatter_max(const int* values, const int* index, int* best, int* hits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kUpdates * kCols) return;
    int u = i / kCols;
    int c = i % kCols;
    int r = index[u];
    atomicMax(&best[r * kCols + c], values[i]);
    if (c == 0) atomicAdd(&hits[r], 1);
}

int main() {
    size_t initial_len = (size_t)kRows * kCols;
    size_t values_len = (size_t)kUpdates * kCols;
    int* h_initial = new int[initial_len];
    int* h_values = new int[values_len];
    int* h_index = new int[kUpdates];
    int* h_best = new int[initial_len];
    int* h_hits = new int[kRows];
    read_binary("data/initial.bin", h_initial, initial_len);
    read_binary("data/values.bin", h_values, values_len);
    read_binary("data/index.bin", h_index, kUpdates);

    int* d_initial = nullptr;
    cudaMalloc(&d_initial, initial_len * sizeof(int));
    cudaMemcpy(d_initial, h_initial, initial_len * sizeof(int), cudaMemcpyHostToDevice);
    int* d_values = nullptr;
    cudaMalloc(&d_values, values_len * sizeof(int));
    cudaMemcpy(d_values, h_values, values_len * sizeof(int), cudaMemcpyHostToDevice);
    int* d_index = nullptr;
    cudaMalloc(&d_index, kUpdates * sizeof(int));
    cudaMemcpy(d_index, h_index, kUpdates * sizeof(int), cudaMemcpyHostToDevice);
    int* d_best = nullptr;
    cudaMalloc(&d_best, initial_len * sizeof(int));
    int* d_hits = nullptr;
    cudaMalloc(&d_hits, kRows * sizeof(int));

    cudaMemcpy(d_best, d_initial, initial_len * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemset(d_hits, 0, kRows * sizeof(int));
    scatter_max<<<(kUpdates * kCols + 255) / 256, 256>>>(d_values, d_index, d_best, d_hits);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_best, d_best, initial_len * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hits, d_hits, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/best.bin", h_best, initial_len);
    write_binary("data/hits.bin", h_hits, kRows);

    cudaFree(d_initial);
    cudaFree(d_values);
    cudaFree(d_index);
    cudaFree(d_best);
    cudaFree(d_hits);
    delete[] h_initial;
    delete[] h_values;
    delete[] h_index;
    delete[] h_best;
    delete[] h_hits;
    return 0;
}
