#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& filename, void* buffer, size_t size) {
    std::ifstream in(filename, std::ios::binary);
    in.read(reinterpret_cast<char*>(buffer), size);
    if (!in) {
        std::cerr << "could not open " << filename << "\n";
        exit(1);
    }
}

void write_binary(const std::string& filename, const void* buffer, size_t size) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), size);
}
//@given

constexpr int ROWS = 100;
constexpr int COLS = 250;

inline int div_up(int a, int b) { return (a + b - 1) / b; }

// The exponent field of the largest magnitude is all that counts, so maxima are taken over shifted bit patterns.
__global__ void row_exponents(const float* __restrict__ a, int* __restrict__ exponent) {
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= ROWS) return;
    int field = 0;
    for (int c = lane; c < COLS; c += 32)
        field = max(field, (__float_as_int(a[(size_t)row * COLS + c]) >> 23) & 255);
    for (int s = 16; s > 0; s /= 2) field = max(field, __shfl_down_sync(0xffffffffu, field, s));
    if (lane == 0) exponent[row] = field > 0 ? field - 126 : 0;
}

__global__ void apply_exponents(const float* __restrict__ a, const int* __restrict__ exponent,
                                float* __restrict__ scaled) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * COLS) return;
    float factor = __int_as_float((127 - exponent[i / COLS]) << 23);
    scaled[i] = a[i] * factor;
}

int main() {
    const size_t n_a = (size_t)ROWS * COLS;
    float* host_a = new float[n_a];
    float* host_scaled = new float[n_a];
    int* host_exponent = new int[ROWS];
    read_binary("data/a.bin", host_a, n_a * sizeof(float));

    float* d_a;
    float* d_scaled;
    int* d_exponent;
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_scaled, n_a * sizeof(float));
    cudaMalloc(&d_exponent, ROWS * sizeof(int));
    cudaMemcpy(d_a, host_a, n_a * sizeof(float), cudaMemcpyHostToDevice);

    row_exponents<<<div_up(ROWS, 8), 256>>>(d_a, d_exponent);
    apply_exponents<<<div_up(ROWS * COLS, 256), 256>>>(d_a, d_exponent, d_scaled);

    cudaMemcpy(host_scaled, d_scaled, n_a * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_exponent, d_exponent, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/scaled.bin", host_scaled, n_a * sizeof(float));
    write_binary("data/exponent.bin", host_exponent, ROWS * sizeof(int));

    cudaFree(d_a);
    cudaFree(d_scaled);
    cudaFree(d_exponent);
    delete[] host_a;
    delete[] host_scaled;
    delete[] host_exponent;
    return 0;
}
