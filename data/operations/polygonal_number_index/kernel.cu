#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void fetch(const std::string& path, int* values, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values), count * sizeof(int));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void dump(const std::string& path, const int* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(int));
}
//@given

constexpr int kN = 4000;

// k has at most 16 bits; they are found from the highest to the lowest without any square root.
__global__ void polygonal_bits(const int* __restrict__ sides, const int* __restrict__ values,
                               int* __restrict__ index, int* __restrict__ floor_value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += gridDim.x * blockDim.x) {
        const long long s = sides[i];
        const long long twice = 2LL * values[i] + 1;
        long long k = 0, best = 0;
        for (int bit = 15; bit >= 0; --bit) {
            long long trial = k | (1LL << bit);
            long long number = trial * ((s - 2) * trial - (s - 4));
            if (number <= twice) {
                k = trial;
                best = number;
            }
        }
        best /= 2;
        floor_value[i] = (int)best;
        index[i] = best == values[i] ? (int)k : 0;
    }
}

int main() {
    int* h_sides = new int[kN];
    int* h_values = new int[kN];
    int* h_index = new int[kN];
    int* h_floor_value = new int[kN];
    fetch("data/sides.bin", h_sides, kN);
    fetch("data/values.bin", h_values, kN);

    int* d_sides;
    cudaMalloc(&d_sides, kN * sizeof(int));
    int* d_values;
    cudaMalloc(&d_values, kN * sizeof(int));
    int* d_index;
    cudaMalloc(&d_index, kN * sizeof(int));
    int* d_floor_value;
    cudaMalloc(&d_floor_value, kN * sizeof(int));
    cudaMemcpy(d_sides, h_sides, kN * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, h_values, kN * sizeof(int), cudaMemcpyHostToDevice);

    int grid = (kN + 256 - 1) / 256;
    polygonal_bits<<<grid < 1024 ? grid : 1024, 256>>>(d_sides, d_values, d_index, d_floor_value);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_index, d_index, kN * sizeof(int), cudaMemcpyDeviceToHost);
    dump("data/index.bin", h_index, kN);
    cudaMemcpy(h_floor_value, d_floor_value, kN * sizeof(int), cudaMemcpyDeviceToHost);
    dump("data/floor_value.bin", h_floor_value, kN);

    delete[] h_sides;
    delete[] h_values;
    delete[] h_index;
    delete[] h_floor_value;
    cudaFree(d_sides);
    cudaFree(d_values);
    cudaFree(d_index);
    cudaFree(d_floor_value);
    return 0;
}
