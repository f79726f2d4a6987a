#include <cstdint>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int N = 6000;
const int BLOCK = 256;

__device__ __forceinline__ int gather_bits(uint32_t v) {
    v &= 0x09249249u;
    v = (v | (v >> 2)) & 0x030c30c3u;
    v = (v | (v >> 4)) & 0x0300f00fu;
    v = (v | (v >> 8)) & 0x030000ffu;
    v = (v | (v >> 16)) & 0x000003ffu;
    return (int)v;
}

__global__ void decode_block(const uint32_t* __restrict__ codes, int* __restrict__ cells, int* __restrict__ steps) {
    __shared__ int packed[3 * BLOCK];
    const int t = threadIdx.x;
    const int base = blockIdx.x * BLOCK;
    const int i = base + t;
    if (i < N) {
        uint32_t c = codes[i];
        int x = gather_bits(c), y = gather_bits(c >> 1), z = gather_bits(c >> 2);
        packed[3 * t] = x;
        packed[3 * t + 1] = y;
        packed[3 * t + 2] = z;
        int step = 0;
        if (i > 0) {
            uint32_t p = codes[i - 1];
            step = abs(x - gather_bits(p)) + abs(y - gather_bits(p >> 1)) + abs(z - gather_bits(p >> 2));
        }
        steps[i] = step;
    }
    __syncthreads();
    // Contiguous stores of the block's cells.
    const int values = 3 * min(BLOCK, N - base);
    for (int k = t; k < values; k += BLOCK) cells[3 * base + k] = packed[k];
}

int main() {
    const size_t total = (size_t)N * 3;
    std::vector<uint32_t> codes(N);
    std::vector<int> cells(total);
    std::vector<int> step_length(N);
    if (!std::ifstream("data/codes.bin", std::ios::binary).read((char*)codes.data(), N * sizeof(uint32_t))) return 1;
    uint32_t* d_codes; cudaMalloc(&d_codes, N * sizeof(uint32_t));
    int* d_cells; cudaMalloc(&d_cells, total * sizeof(int));
    int* d_step_length; cudaMalloc(&d_step_length, N * sizeof(int));
    cudaMemcpy(d_codes, codes.data(), N * sizeof(uint32_t), cudaMemcpyHostToDevice);
    decode_block<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(d_codes, d_cells, d_step_length);
    cudaMemcpy(cells.data(), d_cells, total * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(step_length.data(), d_step_length, N * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/cells.bin", std::ios::binary).write((char*)cells.data(), total * sizeof(int));
    std::ofstream("data/step_length.bin", std::ios::binary).write((char*)step_length.data(), N * sizeof(int));
    return 0;
}
