#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_bytes(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    in.read(static_cast<char*>(data), bytes);
    if (!in) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void write_bytes(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

static const int QUERIES = 60;
static const int ITEMS = 50;

__global__ void ranking_loss(const float* scores, const int* relevance, float* loss, int* pairs) {
    __shared__ float sums[128];
    __shared__ int counts[128];
    int t = threadIdx.x;
    const float* s = scores + blockIdx.x * ITEMS;
    const int* r = relevance + blockIdx.x * ITEMS;
    float sum = 0.0f;
    int count = 0;
    for (int i = t; i < ITEMS; i += 128) {
        float mine = 0.0f;
        for (int j = 0; j < ITEMS; j++) {
            if (r[i] > r[j]) {
                mine += fmaxf(0.0f, 1.0f - (s[i] - s[j]));
                count++;
            }
        }
        sum += mine;
    }
    sums[t] = sum;
    counts[t] = count;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            sums[t] += sums[t + d];
            counts[t] += counts[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        loss[blockIdx.x] = counts[0] > 0 ? sums[0] / counts[0] : 0.0f;
        pairs[blockIdx.x] = counts[0];
    }
}

int main() {
    const size_t bytes_scores = QUERIES * ITEMS * sizeof(float);
    const size_t relevance_bytes = QUERIES * ITEMS * sizeof(int);
    const size_t loss_bytes = QUERIES * sizeof(float);
    const size_t pairs_bytes = QUERIES * sizeof(int);
    float* host_scores = (float*)malloc(bytes_scores);
    int* host_relevance = (int*)malloc(relevance_bytes);
    float* host_loss = (float*)malloc(loss_bytes);
    int* host_pairs = (int*)malloc(pairs_bytes);
    read_bytes("data/scores.bin", host_scores, bytes_scores);
    read_bytes("data/relevance.bin", host_relevance, relevance_bytes);

    float* dev_scores;
    int* dev_relevance;
    float* dev_loss;
    int* dev_pairs;
    cudaMalloc((void**)&dev_scores, bytes_scores);
    cudaMalloc((void**)&dev_relevance, relevance_bytes);
    cudaMalloc((void**)&dev_loss, loss_bytes);
    cudaMalloc((void**)&dev_pairs, pairs_bytes);
    cudaMemcpy(dev_scores, host_scores, bytes_scores, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_relevance, host_relevance, relevance_bytes, cudaMemcpyHostToDevice);

    ranking_loss<<<QUERIES, 128>>>(dev_scores, dev_relevance, dev_loss, dev_pairs);

    cudaMemcpy(host_loss, dev_loss, loss_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_pairs, dev_pairs, pairs_bytes, cudaMemcpyDeviceToHost);
    write_bytes("data/loss.bin", host_loss, loss_bytes);
    write_bytes("data/pairs.bin", host_pairs, pairs_bytes);

    cudaFree(dev_scores);
    cudaFree(dev_relevance);
    cudaFree(dev_loss);
    cudaFree(dev_pairs);
    free(host_scores);
    free(host_relevance);
    free(host_loss);
    free(host_pairs);
    return 0;
}
