#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int ROWS = 60;
const int COLS = 300;
const int WARPS = 4;

// A warp per row; lane k (k < 16) remembers how often code k was seen. Four ballots find the lanes of equal code.
__global__ void occurrence_number_warp(const unsigned char* __restrict__ code, int* __restrict__ number) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)r * COLS;
    int seen = 0;
    for (int start = 0; start < COLS; start += 32) {
        int c = start + lane;
        int k = c < COLS ? code[base + c] : 0;
        unsigned int valid = __ballot_sync(0xffffffffu, c < COLS);
        unsigned int same = valid;
        unsigned int mine = valid;
        for (int bit = 0; bit < 4; ++bit) {
            unsigned int votes = __ballot_sync(0xffffffffu, (k >> bit) & 1);
            same &= (k >> bit) & 1 ? votes : ~votes;
            mine &= (lane >> bit) & 1 ? votes : ~votes;
        }
        int before = __shfl_sync(0xffffffffu, seen, k);
        if (c < COLS) number[base + c] = before + __popc(same & ((1u << lane) - 1u));
        seen += __popc(mine);
    }
}

int main() {
    const int total = ROWS * COLS;
    std::vector<unsigned char> h_code(total);
    std::vector<int> h_number(total);

    std::ifstream file("data/code.bin", std::ios::binary);
    file.read((char*)h_code.data(), total * sizeof(unsigned char));
    if (!file) {
        std::cerr << "Could not read data/code.bin" << std::endl;
        return 1;
    }

    unsigned char* d_code;
    int* d_number;
    cudaMalloc(&d_code, total * sizeof(unsigned char));
    cudaMalloc(&d_number, total * sizeof(int));
    cudaMemcpy(d_code, h_code.data(), total * sizeof(unsigned char), cudaMemcpyHostToDevice);

    occurrence_number_warp<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(d_code, d_number);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_number.data(), d_number, total * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out("data/number.bin", std::ios::binary);
    out.write((char*)h_number.data(), total * sizeof(int));
    out.close();

    cudaFree(d_code);
    cudaFree(d_number);
    return 0;
}
