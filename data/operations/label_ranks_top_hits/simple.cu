#include <cuda_runtime.h>
#include <fstream>
#include <vector>

constexpr int kRows = 250;
constexpr int kClasses = 60;
constexpr int kTopk = 5;

__global__ void rank_labels(const float* scores, const int* labels, const int* cutoffs, int* rank, int* hits) {
    __shared__ int counts[128];
    int row = blockIdx.x, t = threadIdx.x;
    const float* s = scores + (size_t)row * kClasses;
    int y = labels[row];
    float own = s[y];
    int ahead = 0;
    for (int k = t; k < kClasses; k += 128) {
        if (s[k] > own || (s[k] == own && k < y)) ahead++;
    }
    counts[t] = ahead;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step) counts[t] += counts[t + step];
        __syncthreads();
    }
    if (t == 0) {
        rank[row] = counts[0];
        for (int j = 0; j < kTopk; j++) {
            if (counts[0] < cutoffs[j]) atomicAdd(&hits[j], 1);
        }
    }
}

int main() {
    std::vector<float> h_scores(kRows * kClasses);
    std::vector<int> h_labels(kRows), h_cutoffs(kTopk), h_rank(kRows), h_hits(kTopk);
    if (!std::ifstream("data/scores.bin", std::ios::binary)
             .read((char*)h_scores.data(), h_scores.size() * sizeof(float))) return 2;
    if (!std::ifstream("data/labels.bin", std::ios::binary)
             .read((char*)h_labels.data(), h_labels.size() * sizeof(int))) return 2;
    if (!std::ifstream("data/cutoffs.bin", std::ios::binary)
             .read((char*)h_cutoffs.data(), h_cutoffs.size() * sizeof(int))) return 2;
    float* d_scores;
    int* d_labels;
    int* d_cutoffs;
    int* d_rank;
    int* d_hits;
    cudaMalloc(&d_scores, kRows * kClasses * sizeof(float));
    cudaMalloc(&d_labels, kRows * sizeof(int));
    cudaMalloc(&d_cutoffs, kTopk * sizeof(int));
    cudaMalloc(&d_rank, kRows * sizeof(int));
    cudaMalloc(&d_hits, kTopk * sizeof(int));
    cudaMemcpy(d_scores, h_scores.data(), kRows * kClasses * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, h_labels.data(), kRows * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_cutoffs, h_cutoffs.data(), kTopk * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_hits, 0, kTopk * sizeof(int));
    rank_labels<<<kRows, 128>>>(d_scores, d_labels, d_cutoffs, d_rank, d_hits);
    cudaMemcpy(h_rank.data(), d_rank, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hits.data(), d_hits, kTopk * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/rank.bin", std::ios::binary).write((char*)h_rank.data(), h_rank.size() * sizeof(int));
    std::ofstream("data/hits.bin", std::ios::binary).write((char*)h_hits.data(), h_hits.size() * sizeof(int));
    return 0;
}
