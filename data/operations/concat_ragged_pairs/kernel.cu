#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void read_binary(const std::string& filename, T* buffer, size_t count) {
    std::ifstream f(filename, std::ios::binary);
    f.read(reinterpret_cast<char*>(buffer), count * sizeof(T));
    if (!f) {
        std::cerr << "cannot read " << filename << std::endl;
        std::exit(1);
    }
}

template <typename T>
void write_binary(const std::string& filename, const T* buffer, size_t count) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(T));
}
//@given

constexpr int kATotal = 8000;
constexpr int kBTotal = 6000;
constexpr int kRows = 200;

// Last row whose start is not beyond i; empty rows before it are passed over.
__device__ int row_of(const int* __restrict__ offsets, int i) {
    int lo = 0, hi = kRows;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (offsets[mid] <= i) lo = mid;
        else hi = mid;
    }
    return lo;
}

// Every value finds its own row, so long and short rows cost the same.
__global__ void move_values(const float* __restrict__ a_values, const int* __restrict__ a_offsets,
                            const float* __restrict__ b_values, const int* __restrict__ b_offsets,
                            float* __restrict__ joined, int* __restrict__ joined_offsets) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kATotal) joined[i + b_offsets[row_of(a_offsets, i)]] = a_values[i];
    if (i < kBTotal) joined[i + a_offsets[row_of(b_offsets, i) + 1]] = b_values[i];
    if (i <= kRows) joined_offsets[i] = a_offsets[i] + b_offsets[i];
}

int main() {
    const size_t a_offsets_total = kRows + 1;
    const size_t joined_total = kATotal + kBTotal;
    float* h_a_values = new float[kATotal];
    int* h_a_offsets = new int[a_offsets_total];
    float* h_b_values = new float[kBTotal];
    int* h_b_offsets = new int[a_offsets_total];
    float* h_joined = new float[joined_total];
    int* h_joined_offsets = new int[a_offsets_total];
    read_binary("data/a_values.bin", h_a_values, kATotal);
    read_binary("data/a_offsets.bin", h_a_offsets, a_offsets_total);
    read_binary("data/b_values.bin", h_b_values, kBTotal);
    read_binary("data/b_offsets.bin", h_b_offsets, a_offsets_total);

    float *d_a_values, *d_b_values, *d_joined;
    int *d_a_offsets, *d_b_offsets, *d_joined_offsets;
    cudaMalloc(&d_a_values, kATotal * sizeof(float));
    cudaMalloc(&d_a_offsets, a_offsets_total * sizeof(int));
    cudaMalloc(&d_b_values, kBTotal * sizeof(float));
    cudaMalloc(&d_b_offsets, a_offsets_total * sizeof(int));
    cudaMalloc(&d_joined, joined_total * sizeof(float));
    cudaMalloc(&d_joined_offsets, a_offsets_total * sizeof(int));

    cudaMemcpy(d_a_values, h_a_values, kATotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a_offsets, h_a_offsets, a_offsets_total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b_values, h_b_values, kBTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b_offsets, h_b_offsets, a_offsets_total * sizeof(int), cudaMemcpyHostToDevice);

    int most = kATotal > kBTotal ? kATotal : kBTotal;
    if (most < kRows + 1) most = kRows + 1;
    move_values<<<(most + 256 - 1) / 256, 256>>>(d_a_values, d_a_offsets, d_b_values, d_b_offsets, d_joined,
            d_joined_offsets);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(h_joined, d_joined, joined_total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_joined_offsets, d_joined_offsets, a_offsets_total * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/joined.bin", h_joined, joined_total);
    write_binary("data/joined_offsets.bin", h_joined_offsets, a_offsets_total);

    cudaFree(d_a_values);
    cudaFree(d_a_offsets);
    cudaFree(d_b_values);
    cudaFree(d_b_offsets);
    cudaFree(d_joined);
    cudaFree(d_joined_offsets);
    delete[] h_a_values;
    delete[] h_a_offsets;
    delete[] h_b_values;
    delete[] h_b_offsets;
    delete[] h_joined;
    delete[] h_joined_offsets;
    return 0;
}
