#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ENTRIES = 1000;
const int N = 6000;
const int SAMPLES = 255;
const int BLOCK = 256;

__device__ int sample_place(int k) { return (int)((long long)(k + 1) * ENTRIES / (SAMPLES + 1)); }

// The first eight steps of the search run on samples in shared memory, the remaining ones on the table.
__global__ void look_up_sampled(const int* __restrict__ table, const int* __restrict__ keys,
                                int* __restrict__ position, int* __restrict__ copies) {
    __shared__ int samples[SAMPLES];
    for (int k = threadIdx.x; k < SAMPLES; k += BLOCK) samples[k] = table[sample_place(k)];
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        const int key = keys[i];
        int bound[2];
        for (int side = 0; side < 2; ++side) {
            int a = 0, b = SAMPLES;
            while (a < b) {
                int m = (a + b) >> 1;
                if (samples[m] < key || (side && samples[m] == key)) a = m + 1;
                else b = m;
            }
            int lo = a > 0 ? sample_place(a - 1) + 1 : 0;
            int hi = a < SAMPLES ? sample_place(a) : ENTRIES;
            while (lo < hi) {
                int m = (lo + hi) >> 1;
                int v = table[m];
                if (v < key || (side && v == key)) lo = m + 1;
                else hi = m;
            }
            bound[side] = lo;
        }
        position[i] = bound[0];
        copies[i] = bound[1] - bound[0];
    }
}

int main() {
    std::vector<int> table(ENTRIES);
    std::vector<int> keys(N);
    std::vector<int> position(N);
    std::vector<int> copies(N);
    if (!std::ifstream("data/table.bin", std::ios::binary).read((char*)table.data(), ENTRIES * sizeof(int))) return 1;
    if (!std::ifstream("data/keys.bin", std::ios::binary).read((char*)keys.data(), N * sizeof(int))) return 1;
    int* d_table; cudaMalloc(&d_table, ENTRIES * sizeof(int));
    int* d_keys; cudaMalloc(&d_keys, N * sizeof(int));
    int* d_position; cudaMalloc(&d_position, N * sizeof(int));
    int* d_copies; cudaMalloc(&d_copies, N * sizeof(int));
    cudaMemcpy(d_table, table.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_keys, keys.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    int blocks = (N + BLOCK - 1) / BLOCK;
    if (blocks > 1056) blocks = 1056;
    look_up_sampled<<<blocks, BLOCK>>>(d_table, d_keys, d_position, d_copies);
    cudaMemcpy(position.data(), d_position, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(copies.data(), d_copies, N * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/position.bin", std::ios::binary).write((char*)position.data(), N * sizeof(int));
    std::ofstream("data/copies.bin", std::ios::binary).write((char*)copies.data(), N * sizeof(int));
    return 0;
}
