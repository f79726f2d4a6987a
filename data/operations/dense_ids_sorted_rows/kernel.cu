#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 30;
static const int COLS = 400;
static const int BLOCK = 256;
static const int WARPS = BLOCK / 32;

// Ballots count the changes within a warp; the block goes along its row piece by piece and carries the id.
__global__ void dense_ids_block(const float* __restrict__ values, int* __restrict__ ids, int* __restrict__ distinct) {
    __shared__ int warp_changes[WARPS];
    const float* row = values + (size_t)blockIdx.x * COLS;
    int* out = ids + (size_t)blockIdx.x * COLS;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int carry = 0;
    for (int start = 0; start < COLS; start += BLOCK) {
        const int c = start + threadIdx.x;
        const bool change = c > 0 && c < COLS && row[c] != row[c - 1];
        const unsigned int votes = __ballot_sync(0xffffffffu, change);
        if (lane == 0) warp_changes[warp] = __popc(votes);
        __syncthreads();
        int before = carry;
        for (int w = 0; w < WARPS; ++w) {
            if (w < warp) before += warp_changes[w];
            carry += warp_changes[w];
        }
        if (c < COLS) out[c] = before + __popc(votes & (0xffffffffu >> (31 - lane)));
        __syncthreads();
    }
    if (threadIdx.x == 0) distinct[blockIdx.x] = carry + 1;
}

void run(const float* d_sorted_values, int* d_ids, int* d_distinct) {
    dense_ids_block<<<ROWS, BLOCK>>>(d_sorted_values, d_ids, d_distinct);
}

int main() {
    const size_t numel = ROWS * COLS;
    std::vector<float> sorted_values(numel);
    std::vector<int> ids(numel);
    std::vector<int> distinct(ROWS);
    if (!std::ifstream("data/sorted_values.bin", std::ios::binary)
             .read((char*)sorted_values.data(), numel * sizeof(float))) {
        std::cerr << "data/sorted_values.bin is missing or short\n";
        return 1;
    }

    float *d_sorted_values;
    int *d_ids, *d_distinct;
    cudaMalloc(&d_sorted_values, numel * sizeof(float));
    cudaMalloc(&d_ids, numel * sizeof(int));
    cudaMalloc(&d_distinct, ROWS * sizeof(int));
    cudaMemcpy(d_sorted_values, sorted_values.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    run(d_sorted_values, d_ids, d_distinct);
    cudaMemcpy(ids.data(), d_ids, numel * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(distinct.data(), d_distinct, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/ids.bin", std::ios::binary)
        .write((const char*)ids.data(), numel * sizeof(int));
    std::ofstream("data/distinct.bin", std::ios::binary)
        .write((const char*)distinct.data(), ROWS * sizeof(int));
    cudaFree(d_sorted_values);
    cudaFree(d_ids);
    cudaFree(d_distinct);
    return 0;
}
