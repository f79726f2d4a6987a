#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define VOCAB 200
#define WIDTH 64
#define BATCH 4
#define STEPS 100

// A block owns one time step: the position vector is made once in shared memory and used for the whole batch.
__global__ void embed_step(const float* __restrict__ table, const int* __restrict__ tokens,
                           float* __restrict__ hidden) {
    __shared__ float pos[WIDTH];
    const int t = blockIdx.x;
    for (int m = threadIdx.x; m < WIDTH / 2; m += blockDim.x) {
        float w = expf(-9.210340372f * (2 * m) / WIDTH);
        sincosf(t * w, &pos[2 * m], &pos[2 * m + 1]);
    }
    __syncthreads();
    const float scale = sqrtf((float)WIDTH);
    for (int b = 0; b < BATCH; ++b) {
        const float* row = table + (size_t)tokens[b * STEPS + t] * WIDTH;
        float* out = hidden + ((size_t)b * STEPS + t) * WIDTH;
        for (int d = threadIdx.x; d < WIDTH; d += blockDim.x) out[d] = fmaf(scale, row[d], pos[d]);
    }
}

int main() {
    const int n_table = VOCAB * WIDTH;
    const int n_tokens = BATCH * STEPS;
    const int n_hidden = BATCH * STEPS * WIDTH;
    std::vector<float> h_table(n_table);
    std::vector<int> h_tokens(n_tokens);
    std::vector<float> h_hidden(n_hidden);
    std::ifstream in_table("data/table.bin", std::ios::binary);
    in_table.read(reinterpret_cast<char*>(h_table.data()), n_table * sizeof(float));
    if (!in_table) {
        std::cerr << "missing or short file data/table.bin" << std::endl;
        return 1;
    }
    std::ifstream in_tokens("data/tokens.bin", std::ios::binary);
    in_tokens.read(reinterpret_cast<char*>(h_tokens.data()), n_tokens * sizeof(int));
    if (!in_tokens) {
        std::cerr << "cannot read data/tokens.bin" << std::endl;
        return 1;
    }

    float* d_table;
    int* d_tokens;
    float* d_hidden;
    cudaMalloc(&d_table, n_table * sizeof(float));
    cudaMalloc(&d_tokens, n_tokens * sizeof(int));
    cudaMalloc(&d_hidden, n_hidden * sizeof(float));
    cudaMemcpy(d_table, h_table.data(), n_table * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_tokens, h_tokens.data(), n_tokens * sizeof(int), cudaMemcpyHostToDevice);

    embed_step<<<STEPS, 128>>>(d_table, d_tokens, d_hidden);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(h_hidden.data(), d_hidden, n_hidden * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_hidden("data/hidden.bin", std::ios::binary);
    out_hidden.write(reinterpret_cast<char*>(h_hidden.data()), n_hidden * sizeof(float));

    cudaFree(d_table);
    cudaFree(d_tokens);
    cudaFree(d_hidden);
    return 0;
}
