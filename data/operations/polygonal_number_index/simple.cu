#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 4000;

__device__ long long polygonal(long long s, long long k) {
    return ((s - 2) * k * k - (s - 4) * k) / 2;
}

__global__ void polygonal_index(const int* sides, const int* values, int* index, int* floor_value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int s = sides[i], x = values[i];
    double root = sqrt((double)(s - 4) * (s - 4) + 8.0 * (s - 2) * x);
    long long k = (long long)((s - 4 + root) / (2.0 * (s - 2)));
    while (polygonal(s, k + 1) <= x) ++k;
    while (polygonal(s, k) > x) --k;
    int p = (int)polygonal(s, k);
    index[i] = p == x ? (int)k : 0;
    floor_value[i] = p;
}

void launch(const int* d_sides, const int* d_values, int* d_index, int* d_floor_value) {
    const int block = 256;
    polygonal_index<<<(N + block - 1) / block, block>>>(d_sides, d_values, d_index, d_floor_value);
}

int main() {
    std::vector<int> sides(N);
    std::vector<int> values(N);
    std::vector<int> index(N);
    std::vector<int> floor_value(N);
    if (!std::ifstream("data/sides.bin", std::ios::binary)
             .read((char*)sides.data(), N * sizeof(int))) {
        std::cerr << "data/sides.bin is missing or short\n";
        return 1;
    }
    if (!std::ifstream("data/values.bin", std::ios::binary)
             .read((char*)values.data(), N * sizeof(int))) {
        std::cerr << "data/values.bin is missing or short\n";
        return 1;
    }

    int *d_sides, *d_values, *d_index, *d_floor_value;
    cudaMalloc(&d_sides, N * sizeof(int));
    cudaMalloc(&d_values, N * sizeof(int));
    cudaMalloc(&d_index, N * sizeof(int));
    cudaMalloc(&d_floor_value, N * sizeof(int));
    cudaMemcpy(d_sides, sides.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, values.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    launch(d_sides, d_values, d_index, d_floor_value);
    cudaMemcpy(index.data(), d_index, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(floor_value.data(), d_floor_value, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/index.bin", std::ios::binary)
        .write((const char*)index.data(), N * sizeof(int));
    std::ofstream("data/floor_value.bin", std::ios::binary)
        .write((const char*)floor_value.data(), N * sizeof(int));
    cudaFree(d_sides);
    cudaFree(d_values);
    cudaFree(d_index);
    cudaFree(d_floor_value);
    return 0;
}
