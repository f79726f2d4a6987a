#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_file(const std::string& path, T* buf, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(buf), count * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

template <typename T>
void write_file(const std::string& path, const T* buf, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buf), count * sizeof(T));
}
//@given

constexpr int kN = 6000;

__global__ void bcd_add(const uint32_t* a, const uint32_t* b, uint32_t* sum, uint8_t* carry) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    uint32_t result = 0, c = 0;
    for (int shift = 0; shift < 32; shift += 4) {
        uint32_t digit = ((a[i] >> shift) & 15u) + ((b[i] >> shift) & 15u) + c;
        c = digit >= 10 ? 1 : 0;
        if (c) digit -= 10;
        result |= digit << shift;
    }
    sum[i] = result;
    carry[i] = (uint8_t)c;
}

int main() {
    uint32_t* h_a = new uint32_t[kN];
    uint32_t* h_b = new uint32_t[kN];
    uint32_t* h_sum = new uint32_t[kN];
    uint8_t* h_carry = new uint8_t[kN];
    read_file("data/a.bin", h_a, kN);
    read_file("data/b.bin", h_b, kN);

    uint32_t* d_a;
    cudaMalloc(&d_a, kN * sizeof(uint32_t));
    uint32_t* d_b;
    cudaMalloc(&d_b, kN * sizeof(uint32_t));
    uint32_t* d_sum;
    cudaMalloc(&d_sum, kN * sizeof(uint32_t));
    uint8_t* d_carry;
    cudaMalloc(&d_carry, kN * sizeof(uint8_t));
    cudaMemcpy(d_a, h_a, kN * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, kN * sizeof(uint32_t), cudaMemcpyHostToDevice);

    int block = 256;
    bcd_add<<<(kN + block - 1) / block, block>>>(d_a, d_b, d_sum, d_carry);

    cudaMemcpy(h_sum, d_sum, kN * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    write_file("data/sum.bin", h_sum, kN);
    cudaMemcpy(h_carry, d_carry, kN * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    write_file("data/carry.bin", h_carry, kN);

    delete[] h_a;
    delete[] h_b;
    delete[] h_sum;
    delete[] h_carry;
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_sum);
    cudaFree(d_carry);
    return 0;
}
