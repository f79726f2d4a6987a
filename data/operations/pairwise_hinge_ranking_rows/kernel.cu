#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int QUERIES = 60;
const int ITEMS = 50;
const int SIZE = QUERIES * ITEMS;

__global__ void ranking_loss_shared(const float* __restrict__ scores, const int* __restrict__ relevance,
                                    float* __restrict__ loss, int* __restrict__ pairs) {
    __shared__ float s[ITEMS];
    __shared__ int r[ITEMS];
    __shared__ float total;
    __shared__ int number;
    const int q = blockIdx.x;
    for (int i = threadIdx.x; i < ITEMS; i += blockDim.x) {
        s[i] = scores[q * ITEMS + i];
        r[i] = relevance[q * ITEMS + i];
    }
    if (threadIdx.x == 0) {
        total = 0.0f;
        number = 0;
    }
    __syncthreads();
    float sum = 0.0f;
    int count = 0;
    // Pairs are numbered j + items * i, so all threads stay busy even for few items.
    for (int p = threadIdx.x; p < ITEMS * ITEMS; p += blockDim.x) {
        const int i = p / ITEMS, j = p % ITEMS;
        if (r[i] <= r[j]) continue;
        sum += fmaxf(0.0f, 1.0f - s[i] + s[j]);
        ++count;
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, d);
        count += __shfl_down_sync(0xffffffffu, count, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&total, sum);
        atomicAdd(&number, count);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        loss[q] = number ? total / number : 0.0f;
        pairs[q] = number;
    }
}

int main() {
    std::vector<float> h_scores(SIZE);
    std::vector<int> h_relevance(SIZE);
    std::vector<float> h_loss(QUERIES);
    std::vector<int> h_pairs(QUERIES);
    std::ifstream scores_file("data/scores.bin", std::ios::binary);
    scores_file.read((char*)h_scores.data(), h_scores.size() * sizeof(float));
    std::ifstream relevance_file("data/relevance.bin", std::ios::binary);
    relevance_file.read((char*)h_relevance.data(), h_relevance.size() * sizeof(int));
    if (!scores_file || !relevance_file) {
        std::cerr << "could not read the input files\n";
        return 1;
    }

    float* d_scores;
    int* d_relevance;
    float* d_loss;
    int* d_pairs;
    cudaMalloc(&d_scores, SIZE * sizeof(float));
    cudaMalloc(&d_relevance, SIZE * sizeof(int));
    cudaMalloc(&d_loss, QUERIES * sizeof(float));
    cudaMalloc(&d_pairs, QUERIES * sizeof(int));
    cudaMemcpy(d_scores, h_scores.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_relevance, h_relevance.data(), SIZE * sizeof(int), cudaMemcpyHostToDevice);

    ranking_loss_shared<<<QUERIES, 256>>>(d_scores, d_relevance, d_loss, d_pairs);

    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_loss.data(), d_loss, QUERIES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_pairs.data(), d_pairs, QUERIES * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out_loss("data/loss.bin", std::ios::binary);
    out_loss.write((const char*)h_loss.data(), h_loss.size() * sizeof(float));
    std::ofstream pairs_out("data/pairs.bin", std::ios::binary);
    pairs_out.write((const char*)h_pairs.data(), h_pairs.size() * sizeof(int));
    cudaFree(d_scores);
    cudaFree(d_relevance);
    cudaFree(d_loss);
    cudaFree(d_pairs);
    return 0;
}
