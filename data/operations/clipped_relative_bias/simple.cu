#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int HEADS = 4;
const int QUERIES = 90;
const int KEYS = 100;

__global__ void add_bias(const float* scores, const float* bias, float* biased) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    int h = blockIdx.z;
    if (j >= KEYS) return;
    int distance = i + KEYS - QUERIES - j;
    size_t at = ((size_t)h * QUERIES + i) * KEYS + j;
    if (distance < 0)
        biased[at] = -10000.0f;
    else
        biased[at] = 0.125f * scores[at] + bias[h * 65 + min(distance, 64)];
}

void run(const float* d_scores, const float* d_bias, float* d_biased) {
    dim3 grid((KEYS + 128 - 1) / 128, QUERIES, HEADS);
    add_bias<<<grid, 128>>>(d_scores, d_bias, d_biased);
}

int main() {
    const size_t scores_size = HEADS * QUERIES * KEYS;
    const size_t bias_size = (size_t)HEADS * 65;
    std::vector<float> h_scores(scores_size);
    std::vector<float> h_bias(bias_size);
    std::vector<float> h_biased(scores_size);
    std::ifstream in_scores("data/scores.bin", std::ios::binary);
    if (!in_scores.read(reinterpret_cast<char*>(h_scores.data()), scores_size * sizeof(float))) {
        std::cerr << "cannot read data/scores.bin\n";
        return 1;
    }
    std::ifstream in_bias("data/bias.bin", std::ios::binary);
    if (!in_bias.read(reinterpret_cast<char*>(h_bias.data()), bias_size * sizeof(float))) {
        std::cerr << "cannot read data/bias.bin\n";
        return 1;
    }

    float* d_scores;
    float* d_bias;
    float* d_biased;
    cudaMalloc(&d_scores, scores_size * sizeof(float));
    cudaMalloc(&d_bias, bias_size * sizeof(float));
    cudaMalloc(&d_biased, scores_size * sizeof(float));
    cudaMemcpy(d_scores, h_scores.data(), scores_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, h_bias.data(), bias_size * sizeof(float), cudaMemcpyHostToDevice);

    run(d_scores, d_bias, d_biased);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_biased.data(), d_biased, scores_size * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/biased.bin", std::ios::binary).write(reinterpret_cast<char*>(h_biased.data()),
        scores_size * sizeof(float));
    cudaFree(d_scores);
    cudaFree(d_bias);
    cudaFree(d_biased);
    return 0;
}
