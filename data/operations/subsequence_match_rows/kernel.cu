#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define ROWS 300
#define WIDTH 80
#define LETTERS 6
const int WARPS = 4;
const unsigned FULL = 0xffffffffu;

__device__ unsigned char fold(unsigned char ch) {
    return (unsigned char)(ch - 'A') < 26 ? ch | 32 : ch;
}

// A warp loads 32 letters of its line; ballots find the next occurrence behind the previous match.
__global__ void match_warps(const unsigned char* __restrict__ lines, const unsigned char* __restrict__ pattern,
                            int* __restrict__ matched, int* __restrict__ last) {
    __shared__ unsigned char want[LETTERS];
    for (int k = threadIdx.x; k < LETTERS; k += blockDim.x) want[k] = fold(pattern[k]);
    __syncthreads();
    const int r = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (r >= ROWS) return;
    int k = 0, end = -1;
    for (int start = 0; start < WIDTH && k < LETTERS; start += 32) {
        const int c = start + lane;
        const int letter = c < WIDTH ? fold(lines[(size_t)r * WIDTH + c]) : -1;
        unsigned open = FULL;
        while (k < LETTERS) {
            const unsigned hits = __ballot_sync(FULL, letter == want[k]) & open;
            if (hits == 0) break;
            const int at = __ffs(hits) - 1;
            end = start + at;
            open = at == 31 ? 0u : FULL << (at + 1);
            ++k;
        }
    }
    if (lane == 0) {
        matched[r] = k;
        last[r] = k == LETTERS ? end : -1;
    }
}

int main() {
    unsigned char* lines;
    unsigned char* pattern;
    int* matched;
    int* last;
    cudaMallocManaged(&lines, ROWS * WIDTH * sizeof(unsigned char));
    cudaMallocManaged(&pattern, LETTERS * sizeof(unsigned char));
    cudaMallocManaged(&matched, ROWS * sizeof(int));
    cudaMallocManaged(&last, ROWS * sizeof(int));

    std::ifstream file_lines("data/lines.bin", std::ios::binary);
    if (!file_lines.read((char*)lines, ROWS * WIDTH * sizeof(unsigned char))) {
        std::cerr << "cannot read data/lines.bin\n";
        return 1;
    }
    std::ifstream file_pattern("data/pattern.bin", std::ios::binary);
    if (!file_pattern.read((char*)pattern, LETTERS * sizeof(unsigned char))) {
        std::cerr << "cannot read data/pattern.bin\n";
        return 1;
    }

    match_warps<<<(ROWS + WARPS - 1) / WARPS, WARPS * 32>>>(lines, pattern, matched, last);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::ofstream out_matched("data/matched.bin", std::ios::binary);
    out_matched.write((char*)matched, ROWS * sizeof(int));
    std::ofstream out_last("data/last.bin", std::ios::binary);
    out_last.write((char*)last, ROWS * sizeof(int));

    cudaFree(lines);
    cudaFree(pattern);
    cudaFree(matched);
    cudaFree(last);
    return 0;
}
