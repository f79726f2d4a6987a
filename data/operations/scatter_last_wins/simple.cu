#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_bin(const std::string& filename, T* buffer, size_t count) {
    std::ifstream file(filename, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << filename << std::endl;
        std::exit(1);
    }
}

template <typename T>
void store_bin(const std::string& filename, const T* buffer, size_t count) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(T));
}
//@given

constexpr int kSize = 6000;
constexpr int kUpdates = 9000;

__global__ void init(int* winner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kSize) winner[i] = -1;
}

__global__ void find_winners(const int* position, int* winner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kUpdates) {
        int p = position[i];
        if (p >= 0 && p < kSize) atomicMax(&winner[p], i);
    }
}

__global__ void assign(const float* initial, const float* value, const int* winner, float* final_values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kSize) final_values[i] = winner[i] < 0 ? initial[i] : value[winner[i]];
}

int main() {
    float* h_initial = new float[kSize];
    int* h_position = new int[kUpdates];
    float* h_value = new float[kUpdates];
    float* h_final = new float[kSize];
    int* h_winner = new int[kSize];
    load_bin("data/initial.bin", h_initial, kSize);
    load_bin("data/position.bin", h_position, kUpdates);
    load_bin("data/value.bin", h_value, kUpdates);

    float* d_initial = nullptr;
    cudaMalloc(&d_initial, kSize * sizeof(float));
    cudaMemcpy(d_initial, h_initial, kSize * sizeof(float), cudaMemcpyHostToDevice);
    int* d_position = nullptr;
    cudaMalloc(&d_position, kUpdates * sizeof(int));
    cudaMemcpy(d_position, h_position, kUpdates * sizeof(int), cudaMemcpyHostToDevice);
    float* d_value = nullptr;
    cudaMalloc(&d_value, kUpdates * sizeof(float));
    cudaMemcpy(d_value, h_value, kUpdates * sizeof(float), cudaMemcpyHostToDevice);
    float* d_final = nullptr;
    cudaMalloc(&d_final, kSize * sizeof(float));
    int* d_winner = nullptr;
    cudaMalloc(&d_winner, kSize * sizeof(int));

    init<<<(kSize + 256 - 1) / 256, 256>>>(d_winner);
    find_winners<<<(kUpdates + 256 - 1) / 256, 256>>>(d_position, d_winner);
    assign<<<(kSize + 256 - 1) / 256, 256>>>(d_initial, d_value, d_winner, d_final);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(result) << std::endl;
        return 1;
    }
    cudaMemcpy(h_final, d_final, kSize * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_winner, d_winner, kSize * sizeof(int), cudaMemcpyDeviceToHost);
    store_bin("data/final.bin", h_final, kSize);
    store_bin("data/winner.bin", h_winner, kSize);

    cudaFree(d_initial);
    cudaFree(d_position);
    cudaFree(d_value);
    cudaFree(d_final);
    cudaFree(d_winner);
    delete[] h_initial;
    delete[] h_position;
    delete[] h_value;
    delete[] h_final;
    delete[] h_winner;
    return 0;
}
