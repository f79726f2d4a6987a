#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int QUERIES = 200;
constexpr int ITEMS = 90;
constexpr int NUM_ELEMENTS = QUERIES * ITEMS;

__global__ void reciprocal_rank(const float* scores, const unsigned char* relevant, float* reciprocal) {
    __shared__ float top[256];
    __shared__ int worse[256];
    int t = threadIdx.x;
    const float* s = scores + (size_t)blockIdx.x * ITEMS;
    const unsigned char* r = relevant + (size_t)blockIdx.x * ITEMS;
    top[t] = -INFINITY;
    for (int i = t; i < ITEMS; i += 256) {
        if (r[i]) top[t] = fmaxf(top[t], s[i]);
    }
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) top[t] = fmaxf(top[t], top[t + d]);
        __syncthreads();
    }
    float best = top[0];
    worse[t] = 0;
    for (int i = t; i < ITEMS; i += 256) {
        if (!r[i] && s[i] >= best) worse[t]++;
    }
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) worse[t] += worse[t + d];
        __syncthreads();
    }
    if (t == 0) reciprocal[blockIdx.x] = best == -INFINITY ? 0.0f : 1.0f / (1 + worse[0]);
}

__global__ void average(const float* reciprocal, float* mean) {
    __shared__ float sum[256];
    int t = threadIdx.x;
    sum[t] = 0.0f;
    for (int i = t; i < QUERIES; i += 256) sum[t] += reciprocal[i];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) sum[t] += sum[t + d];
        __syncthreads();
    }
    if (t == 0) mean[0] = sum[0] / QUERIES;
}

int main() {
    std::vector<float> h_scores(NUM_ELEMENTS), h_reciprocal(QUERIES), h_mean(1);
    std::vector<unsigned char> h_relevant(NUM_ELEMENTS);
    std::ifstream scores_file("data/scores.bin", std::ios::binary);
    scores_file.read(reinterpret_cast<char*>(h_scores.data()), NUM_ELEMENTS * sizeof(float));
    std::ifstream relevant_file("data/relevant.bin", std::ios::binary);
    relevant_file.read(reinterpret_cast<char*>(h_relevant.data()), NUM_ELEMENTS * sizeof(unsigned char));
    if (!scores_file || !relevant_file) {
        std::cerr << "reading data/ failed\n";
        return 1;
    }

    float* d_scores;
    unsigned char* d_relevant;
    float* d_reciprocal;
    float* d_mean;
    cudaMalloc(&d_scores, NUM_ELEMENTS * sizeof(float));
    cudaMalloc(&d_relevant, NUM_ELEMENTS * sizeof(unsigned char));
    cudaMalloc(&d_reciprocal, QUERIES * sizeof(float));
    cudaMalloc(&d_mean, sizeof(float));
    cudaMemcpy(d_scores, h_scores.data(), NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_relevant, h_relevant.data(), NUM_ELEMENTS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    reciprocal_rank<<<QUERIES, 256>>>(d_scores, d_relevant, d_reciprocal);
    average<<<1, 256>>>(d_reciprocal, d_mean);

    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_reciprocal.data(), d_reciprocal, QUERIES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mean.data(), d_mean, sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream reciprocal_out("data/reciprocal.bin", std::ios::binary);
    reciprocal_out.write(reinterpret_cast<const char*>(h_reciprocal.data()), QUERIES * sizeof(float));
    std::ofstream out_mean("data/mean.bin", std::ios::binary);
    out_mean.write(reinterpret_cast<const char*>(h_mean.data()), sizeof(float));
    cudaFree(d_scores);
    cudaFree(d_relevant);
    cudaFree(d_reciprocal);
    cudaFree(d_mean);
    return 0;
}
