#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 60;
constexpr int kCols = 100;
constexpr int kEntries = 3000;
constexpr int kBlock = 256;

__device__ int first_entry_of(const int* row, int wanted) {
    int low = 0, high = kEntries;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (row[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

// One block builds one row in shared memory and writes it as a whole.
__global__ void build_row(const int* __restrict__ row, const int* __restrict__ col,
                          const float* __restrict__ value, float* __restrict__ dense) {
    __shared__ float line[kCols];
    __shared__ int range[2];
    const int r = blockIdx.x;
    if (threadIdx.x < 2) range[threadIdx.x] = first_entry_of(row, r + threadIdx.x);
    for (int c = threadIdx.x; c < kCols; c += kBlock) line[c] = 0.0f;
    __syncthreads();
    for (int k = range[0] + threadIdx.x; k < range[1]; k += kBlock) {
        if (col[k] >= 0) atomicAdd(&line[col[k]], value[k]);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < kCols; c += kBlock) dense[(size_t)r * kCols + c] = line[c];
}

int main() {
    const auto row = load_vector<int>("data/row.bin", kEntries);
    const auto col = load_vector<int>("data/col.bin", kEntries);
    const auto value = load_vector<float>("data/value.bin", kEntries);

    int* d_row;
    int* d_col;
    float* d_value;
    float* d_dense;
    cudaMalloc(&d_row, kEntries * sizeof(int));
    cudaMalloc(&d_col, kEntries * sizeof(int));
    cudaMalloc(&d_value, kEntries * sizeof(float));
    cudaMalloc(&d_dense, kRows * kCols * sizeof(float));
    cudaMemcpy(d_row, row.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_col, col.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, value.data(), kEntries * sizeof(float), cudaMemcpyHostToDevice);

    build_row<<<kRows, kBlock>>>(d_row, d_col, d_value, d_dense);

    std::vector<float> dense(kRows * kCols);
    cudaMemcpy(dense.data(), d_dense, kRows * kCols * sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/dense.bin", dense);

    cudaFree(d_row);
    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_dense);
    return 0;
}
