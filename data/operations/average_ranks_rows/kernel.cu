#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 150
#define WIDTH 50
#define BLOCK 128

// 2 * rank - 1 = (number of smaller) + (number of smaller or equal): the row is read from shared memory.
__global__ void average_ranks_shared(const float* __restrict__ x, float* __restrict__ ranks) {
    __shared__ float row[WIDTH];
    size_t base = (size_t)blockIdx.x * WIDTH;
    for (int j = threadIdx.x; j < WIDTH; j += BLOCK) row[j] = x[base + j];
    __syncthreads();
    for (int c = threadIdx.x; c < WIDTH; c += BLOCK) {
        float v = row[c];
        int twice = 1;
        for (int j = 0; j < WIDTH; ++j) twice += (row[j] < v) + (row[j] <= v);
        ranks[base + c] = 0.5f * twice;
    }
}

int main() {
    std::vector<float> x(ROWS * WIDTH), ranks(ROWS * WIDTH);
    std::ifstream f("data/x.bin", std::ios::binary);
    if (!f.read((char*)x.data(), ROWS * WIDTH * sizeof(float))) return 1;
    float* d_x;
    float* d_ranks;
    cudaMalloc(&d_x, ROWS * WIDTH * sizeof(float));
    cudaMalloc(&d_ranks, ROWS * WIDTH * sizeof(float));
    cudaMemcpy(d_x, x.data(), ROWS * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
    average_ranks_shared<<<ROWS, BLOCK>>>(d_x, d_ranks);
    cudaMemcpy(ranks.data(), d_ranks, ROWS * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/ranks.bin", std::ios::binary).write((char*)ranks.data(), ROWS * WIDTH * sizeof(float));
    return 0;
}
