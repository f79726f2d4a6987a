#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int N = 9000;
static const int BLOCK = 256;

// The 256 answers stand in a shared table (low nibble data, high nibble status), made by the block itself.
__global__ void decode_by_table(const uint8_t* __restrict__ received, uint8_t* __restrict__ data,
                                uint8_t* __restrict__ status, int* __restrict__ totals) {
    __shared__ uint8_t table[256];
    __shared__ int count[3];
    const int t = threadIdx.x;
    if (t < 3) count[t] = 0;
    int fixed = t;
    int s = ((__popc(t & 0x55) & 1)) | ((__popc(t & 0x66) & 1) << 1) | ((__popc(t & 0x78) & 1) << 2);
    int odd = __popc(t) & 1;
    if (odd && s) fixed ^= 1 << (s - 1);
    int state = odd ? 1 : (s ? 2 : 0);
    table[t] = (uint8_t)((state << 4) | (((fixed >> 4) & 7) << 1) | ((fixed >> 2) & 1));
    __syncthreads();

    int seen[3] = {0, 0, 0};
    for (int i = blockIdx.x * BLOCK + t; i < N; i += gridDim.x * BLOCK) {
        int entry = table[received[i]];
        data[i] = entry & 15;
        status[i] = entry >> 4;
        seen[0] += (entry >> 4) == 0;
        seen[1] += (entry >> 4) == 1;
        seen[2] += (entry >> 4) == 2;
    }
    for (int k = 0; k < 3; ++k) {
        if (seen[k] > 0) atomicAdd(&count[k], seen[k]);
    }
    __syncthreads();
    if (t < 3) atomicAdd(&totals[t], count[t]);
}

void compute_on_gpu(const uint8_t* d_received, uint8_t* d_data, uint8_t* d_status, int* d_totals) {
    int blocks = (N + BLOCK - 1) / BLOCK;
    if (blocks > 1024) blocks = 1024;
    decode_by_table<<<blocks, BLOCK>>>(d_received, d_data, d_status, d_totals);
}

int main() {
    std::vector<uint8_t> received(N);
    std::vector<uint8_t> data(N);
    std::vector<uint8_t> status(N);
    std::vector<int> totals(3);
    if (!std::ifstream("data/received.bin", std::ios::binary)
             .read((char*)received.data(), N * sizeof(uint8_t))) {
        std::cerr << "data/received.bin is missing or short\n";
        return 1;
    }

    uint8_t *d_received, *d_data, *d_status;
    int *d_totals;
    cudaMalloc(&d_received, N * sizeof(uint8_t));
    cudaMalloc(&d_data, N * sizeof(uint8_t));
    cudaMalloc(&d_status, N * sizeof(uint8_t));
    cudaMalloc(&d_totals, 3 * sizeof(int));
    cudaMemcpy(d_received, received.data(), N * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemset(d_totals, 0, 3 * sizeof(int));
    compute_on_gpu(d_received, d_data, d_status, d_totals);
    cudaMemcpy(data.data(), d_data, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(status.data(), d_status, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(totals.data(), d_totals, 3 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/data.bin", std::ios::binary)
        .write((const char*)data.data(), N * sizeof(uint8_t));
    std::ofstream("data/status.bin", std::ios::binary)
        .write((const char*)status.data(), N * sizeof(uint8_t));
    std::ofstream("data/totals.bin", std::ios::binary)
        .write((const char*)totals.data(), 3 * sizeof(int));
    cudaFree(d_received);
    cudaFree(d_data);
    cudaFree(d_status);
    cudaFree(d_totals);
    return 0;
}
