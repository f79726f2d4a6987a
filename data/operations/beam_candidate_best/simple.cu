#include <cuda_runtime.h>
#include <cfloat>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& filename, void* buffer, size_t num_bytes) {
    std::ifstream stream(filename, std::ios::binary);
    stream.read(reinterpret_cast<char*>(buffer), num_bytes);
    if (!stream) {
        std::cerr << "short or missing file " << filename << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& filename, const void* buffer, size_t num_bytes) {
    std::ofstream out(filename, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buffer), num_bytes);
}
//@given

static const int kBatch = 20;
static const int kVocab = 300;

#define BLOCK 128

// Four rounds: find the best candidate that comes after the last one chosen.
__global__ void select_beams(const float* beam_scores, const float* token_scores, float* best_scores,
                             int* best_beam, int* best_token) {
    __shared__ float value[BLOCK];
    __shared__ int index[BLOCK];
    int b = blockIdx.x, t = threadIdx.x;
    const float* scores = token_scores + (size_t)b * 4 * kVocab;
    float last = FLT_MAX;
    int last_index = -1;
    for (int round = 0; round < 4; ++round) {
        float best = -FLT_MAX;
        int where = INT_MAX;
        for (int i = t; i < 4 * kVocab; i += BLOCK) {
            float s = beam_scores[b * 4 + i / kVocab] + scores[i];
            bool left = s < last || (s == last && i > last_index);
            if (left && s > best) {
                best = s;
                where = i;
            }
        }
        value[t] = best;
        index[t] = where;
        __syncthreads();
        for (int h = BLOCK / 2; h > 0; h /= 2) {
            if (t < h) {
                bool other = value[t + h] > value[t] || (value[t + h] == value[t] && index[t + h] < index[t]);
                if (other) {
                    value[t] = value[t + h];
                    index[t] = index[t + h];
                }
            }
            __syncthreads();
        }
        last = value[0];
        last_index = index[0];
        __syncthreads();
        if (t == 0) {
            best_scores[b * 4 + round] = last;
            best_beam[b * 4 + round] = last_index / kVocab;
            best_token[b * 4 + round] = last_index % kVocab;
        }
    }
}

int main() {
    const size_t beam_scores_size = (size_t)kBatch * 4;
    const size_t token_scores_size = (size_t)kBatch * 4 * kVocab;
    float* beam_scores = new float[beam_scores_size];
    float* token_scores = new float[token_scores_size];
    float* best_scores = new float[beam_scores_size];
    int* best_beam = new int[beam_scores_size];
    int* best_token = new int[beam_scores_size];
    read_binary("data/beam_scores.bin", beam_scores, beam_scores_size * sizeof(float));
    read_binary("data/token_scores.bin", token_scores, token_scores_size * sizeof(float));

    float *d_beam_scores, *d_token_scores, *d_best_scores;
    int *d_best_beam, *d_best_token;
    cudaMalloc((void**)&d_beam_scores, beam_scores_size * sizeof(float));
    cudaMalloc((void**)&d_token_scores, token_scores_size * sizeof(float));
    cudaMalloc((void**)&d_best_scores, beam_scores_size * sizeof(float));
    cudaMalloc((void**)&d_best_beam, beam_scores_size * sizeof(int));
    cudaMalloc((void**)&d_best_token, beam_scores_size * sizeof(int));
    cudaMemcpy(d_beam_scores, beam_scores, beam_scores_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_token_scores, token_scores, token_scores_size * sizeof(float), cudaMemcpyHostToDevice);

    select_beams<<<kBatch, BLOCK>>>(d_beam_scores, d_token_scores, d_best_scores, d_best_beam, d_best_token);

    cudaMemcpy(best_scores, d_best_scores, beam_scores_size * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(best_beam, d_best_beam, beam_scores_size * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(best_token, d_best_token, beam_scores_size * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/best_scores.bin", best_scores, beam_scores_size * sizeof(float));
    write_binary("data/best_beam.bin", best_beam, beam_scores_size * sizeof(int));
    write_binary("data/best_token.bin", best_token, beam_scores_size * sizeof(int));

    cudaFree(d_beam_scores);
    cudaFree(d_token_scores);
    cudaFree(d_best_scores);
    cudaFree(d_best_beam);
    cudaFree(d_best_token);
    delete[] beam_scores;
    delete[] token_scores;
    delete[] best_scores;
    delete[] best_beam;
    delete[] best_token;
    return 0;
}
