#include <cuda_runtime.h>
#include <cfloat>
#include <climits>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int BATCH = 20;
constexpr int VOCAB = 300;

struct Best {
    float v[4];
    int i[4];
    __device__ void add(float value, int at) {
        if (value < v[3] || (value == v[3] && at > i[3])) return;
        int k = 3;
        while (k > 0 && (v[k - 1] < value || (v[k - 1] == value && i[k - 1] > at))) {
            v[k] = v[k - 1];
            i[k] = i[k - 1];
            --k;
        }
        v[k] = value;
        i[k] = at;
    }
};

// One pass over the scores: each of 64 threads keeps its own best four, then the lists are merged pairwise.
__global__ void select_once(const float* __restrict__ beam_scores, const float* __restrict__ token_scores,
                            float* __restrict__ best_scores, int* __restrict__ best_beam,
                            int* __restrict__ best_token) {
    __shared__ Best lists[64];
    const int b = blockIdx.x, t = threadIdx.x;
    Best own;
    for (int k = 0; k < 4; ++k) {
        own.v[k] = -FLT_MAX;
        own.i[k] = INT_MAX;
    }
    for (int k = 0; k < 4; ++k) {
        const float base = beam_scores[4 * b + k];
        const float* row = token_scores + ((size_t)b * 4 + k) * VOCAB;
        for (int w = t; w < VOCAB; w += 64) own.add(base + row[w], k * VOCAB + w);
    }
    lists[t] = own;
    __syncthreads();
    for (int h = 32; h > 0; h /= 2) {
        if (t < h)
            for (int k = 0; k < 4; ++k) lists[t].add(lists[t + h].v[k], lists[t + h].i[k]);
        __syncthreads();
    }
    if (t < 4) {
        best_scores[4 * b + t] = lists[0].v[t];
        best_beam[4 * b + t] = lists[0].i[t] / VOCAB;
        best_token[4 * b + t] = lists[0].i[t] % VOCAB;
    }
}

int main() {
    const int beam_scores_size = BATCH * 4;
    const int token_scores_size = BATCH * 4 * VOCAB;
    std::vector<float> h_beam_scores(beam_scores_size);
    std::vector<float> h_token_scores(token_scores_size);
    std::vector<float> h_best_scores(beam_scores_size);
    std::vector<int> h_best_beam(beam_scores_size);
    std::vector<int> h_best_token(beam_scores_size);
    std::ifstream in_beam_scores("data/beam_scores.bin", std::ios::binary);
    in_beam_scores.read((char*)h_beam_scores.data(), beam_scores_size * sizeof(float));
    if (!in_beam_scores) {
        std::cerr << "cannot read data/beam_scores.bin" << std::endl;
        return 1;
    }
    std::ifstream in_token_scores("data/token_scores.bin", std::ios::binary);
    in_token_scores.read((char*)h_token_scores.data(), token_scores_size * sizeof(float));
    if (!in_token_scores) {
        std::cerr << "cannot read data/token_scores.bin" << std::endl;
        return 1;
    }

    float *d_beam_scores, *d_token_scores, *d_best_scores;
    int *d_best_beam, *d_best_token;
    cudaMalloc(&d_beam_scores, beam_scores_size * sizeof(float));
    cudaMalloc(&d_token_scores, token_scores_size * sizeof(float));
    cudaMalloc(&d_best_scores, beam_scores_size * sizeof(float));
    cudaMalloc(&d_best_beam, beam_scores_size * sizeof(int));
    cudaMalloc(&d_best_token, beam_scores_size * sizeof(int));
    cudaMemcpy(d_beam_scores, h_beam_scores.data(), beam_scores_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_token_scores, h_token_scores.data(), token_scores_size * sizeof(float), cudaMemcpyHostToDevice);

    select_once<<<BATCH, 64>>>(d_beam_scores, d_token_scores, d_best_scores, d_best_beam, d_best_token);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(h_best_scores.data(), d_best_scores, beam_scores_size * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_best_beam.data(), d_best_beam, beam_scores_size * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_best_token.data(), d_best_token, beam_scores_size * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_best_scores("data/best_scores.bin", std::ios::binary);
    out_best_scores.write((char*)h_best_scores.data(), beam_scores_size * sizeof(float));
    std::ofstream out_best_beam("data/best_beam.bin", std::ios::binary);
    out_best_beam.write((char*)h_best_beam.data(), beam_scores_size * sizeof(int));
    std::ofstream out_best_token("data/best_token.bin", std::ios::binary);
    out_best_token.write((char*)h_best_token.data(), beam_scores_size * sizeof(int));

    cudaFree(d_beam_scores);
    cudaFree(d_token_scores);
    cudaFree(d_best_scores);
    cudaFree(d_best_beam);
    cudaFree(d_best_token);
    return 0;
}
