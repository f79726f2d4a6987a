#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kRecords = 200;
constexpr int kWidth = 100;
constexpr int WARPS = 8;

// A warp reads one record; class numbers come from a table and are counted by ballots.
__global__ void classes_by_warp(const unsigned char* __restrict__ text, int* __restrict__ counts) {
    __shared__ unsigned char kind[256];
    const int ch = threadIdx.x;
    const int low = ch | 32;
    int k = 4;
    if (low >= 'a' && low <= 'z' && ch < 128)
        k = (0x104111 >> (low - 'a')) & 1 ? 0 : 1;  // bits of a, e, i, o, u
    else if (ch >= '0' && ch <= '9') k = 2;
    else if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') k = 3;
    kind[ch] = k;
    __syncthreads();
    const int r = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (r >= kRecords) return;
    int mine = 0;
    for (int start = 0; start < kWidth; start += 32) {
        const int i = start + lane;
        const int type = i < kWidth ? kind[text[(size_t)r * kWidth + i]] : 5;
        for (int j = 0; j < 5; ++j) {
            const int found = __popc(__ballot_sync(0xffffffffu, type == j));
            if (lane == j) mine += found;
        }
    }
    if (lane < 5) counts[r * 5 + lane] = mine;
}

void compute(const unsigned char* text, int* counts) {
    classes_by_warp<<<(kRecords + WARPS - 1) / WARPS, 256>>>(text, counts);
}

int main() {
    std::vector<unsigned char> h_text(kRecords * kWidth);
    std::vector<int> h_counts(kRecords * 5);
    std::ifstream file_text("data/text.bin", std::ios::binary);
    file_text.read((char*)h_text.data(), kRecords * kWidth * sizeof(unsigned char));
    if (!file_text) { std::cerr << "failed to read data/text.bin\n"; return 1; }

    unsigned char* d_text = nullptr;
    cudaMalloc(&d_text, kRecords * kWidth * sizeof(unsigned char));
    int* d_counts = nullptr;
    cudaMalloc(&d_counts, kRecords * 5 * sizeof(int));
    cudaMemcpy(d_text, h_text.data(), kRecords * kWidth * sizeof(unsigned char), cudaMemcpyHostToDevice);

    compute(d_text, d_counts);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    cudaMemcpy(h_counts.data(), d_counts, kRecords * 5 * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out("data/counts.bin", std::ios::binary);
    out.write((char*)h_counts.data(), kRecords * 5 * sizeof(int));
    cudaFree(d_text);
    cudaFree(d_counts);
    return 0;
}
