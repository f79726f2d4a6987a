#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define N 6000
#define QUADS ((N + 3) / 4)

// All digits at once: with 6 added to every digit, a decimal carry is a binary one; digits without carry give it back.
__device__ unsigned int add_packed(unsigned int x, unsigned int y, unsigned int& carry) {
    unsigned long long shifted = (unsigned long long)x + 0x66666666u;
    unsigned long long total = shifted + y;
    unsigned long long carries = (total ^ shifted ^ y) & 0x111111110ull;
    unsigned int without = (unsigned int)((~carries & 0x111111110ull) >> 4);
    carry = (unsigned int)(total >> 32);
    return (unsigned int)total - without * 6u;
}

__global__ void bcd_add_quads(const unsigned int* __restrict__ a, const unsigned int* __restrict__ b,
                              unsigned int* __restrict__ sum, unsigned char* __restrict__ carry) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= QUADS) return;
    if (4 * q + 3 < N) {
        uint4 x = ((const uint4*)a)[q], y = ((const uint4*)b)[q], s;
        unsigned int c0, c1, c2, c3;
        s.x = add_packed(x.x, y.x, c0);
        s.y = add_packed(x.y, y.y, c1);
        s.z = add_packed(x.z, y.z, c2);
        s.w = add_packed(x.w, y.w, c3);
        ((uint4*)sum)[q] = s;
        ((uchar4*)carry)[q] = make_uchar4(c0, c1, c2, c3);
    } else {
        for (int i = 4 * q; i < N; ++i) {
            unsigned int c;
            sum[i] = add_packed(a[i], b[i], c);
            carry[i] = (unsigned char)c;
        }
    }
}

int main() {
    std::vector<unsigned int> a(N);
    std::vector<unsigned int> b(N);
    std::vector<unsigned int> sum(N);
    std::vector<unsigned char> carry(N);
    if (!std::ifstream("data/a.bin", std::ios::binary).read((char*)a.data(), N * sizeof(unsigned int))) return 1;
    if (!std::ifstream("data/b.bin", std::ios::binary).read((char*)b.data(), N * sizeof(unsigned int))) return 1;
    unsigned int* d_a; cudaMalloc(&d_a, N * sizeof(unsigned int));
    unsigned int* d_b; cudaMalloc(&d_b, N * sizeof(unsigned int));
    unsigned int* d_sum; cudaMalloc(&d_sum, N * sizeof(unsigned int));
    unsigned char* d_carry; cudaMalloc(&d_carry, N * sizeof(unsigned char));
    cudaMemcpy(d_a, a.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    bcd_add_quads<<<(QUADS + 256 - 1) / 256, 256>>>(d_a, d_b, d_sum, d_carry);
    cudaMemcpy(sum.data(), d_sum, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(carry.data(), d_carry, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream("data/sum.bin", std::ios::binary).write((char*)sum.data(), N * sizeof(unsigned int));
    std::ofstream("data/carry.bin", std::ios::binary).write((char*)carry.data(), N * sizeof(unsigned char));
    return 0;
}
