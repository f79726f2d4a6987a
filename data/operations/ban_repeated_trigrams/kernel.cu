#include <cuda_runtime.h>
#include <fstream>
#include <iostream>

const int kBatch = 16;
const int kVocab = 500;
const int kLength = 100;

const int kWords = (kVocab + 31) / 32;

// A bitmap of the vocabulary in shared memory marks the banned tokens of the row before anything is written.
__global__ void filter_row(const float* __restrict__ logits, const int* __restrict__ generated,
                           float* __restrict__ filtered, int* __restrict__ banned) {
    __shared__ unsigned int bits[kWords];
    __shared__ int total;
    const int* g = generated + (size_t)blockIdx.x * kLength;
    for (int w = threadIdx.x; w < kWords; w += blockDim.x) bits[w] = 0u;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int x = g[kLength - 2], y = g[kLength - 1];
    for (int t = threadIdx.x; t < kLength - 2; t += blockDim.x)
        if (g[t] == x && g[t + 1] == y) atomicOr(&bits[g[t + 2] / 32], 1u << (g[t + 2] % 32));
    __syncthreads();
    int own = 0;
    for (int w = threadIdx.x; w < kWords; w += blockDim.x) own += __popc(bits[w]);
    if (own > 0) atomicAdd(&total, own);
    const size_t row = (size_t)blockIdx.x * kVocab;
    for (int w = threadIdx.x; w < kVocab; w += blockDim.x)
        filtered[row + w] = (bits[w / 32] >> (w % 32)) & 1u ? -1e9f : logits[row + w];
    __syncthreads();
    if (threadIdx.x == 0) banned[blockIdx.x] = total;
}

int main() {
    const int logits_size = kBatch * kVocab;
    const int generated_size = kBatch * kLength;
    float* logits;
    int* generated;
    float* filtered;
    int* banned;
    cudaMallocManaged(&logits, logits_size * sizeof(float));
    cudaMallocManaged(&generated, generated_size * sizeof(int));
    cudaMallocManaged(&filtered, logits_size * sizeof(float));
    cudaMallocManaged(&banned, kBatch * sizeof(int));

    std::ifstream file_logits("data/logits.bin", std::ios::binary);
    if (!file_logits.read(reinterpret_cast<char*>(logits), logits_size * sizeof(float))) {
        std::cerr << "cannot read data/logits.bin\n";
        return 1;
    }
    std::ifstream file_generated("data/generated.bin", std::ios::binary);
    if (!file_generated.read(reinterpret_cast<char*>(generated), generated_size * sizeof(int))) {
        std::cerr << "cannot read data/generated.bin\n";
        return 1;
    }

    filter_row<<<kBatch, 256>>>(logits, generated, filtered, banned);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::ofstream file_filtered("data/filtered.bin", std::ios::binary);
    file_filtered.write(reinterpret_cast<const char*>(filtered), logits_size * sizeof(float));
    std::ofstream file_banned("data/banned.bin", std::ios::binary);
    file_banned.write(reinterpret_cast<const char*>(banned), kBatch * sizeof(int));

    cudaFree(logits);
    cudaFree(generated);
    cudaFree(filtered);
    cudaFree(banned);
    return 0;
}
