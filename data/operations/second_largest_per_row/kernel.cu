#include <cfloat>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 64;
const int COLS = 257;
const int BLOCK = 32;

__global__ void second_largest(const float* scores, float* second, int* where) {
    const int t = threadIdx.x;
    const float* row = scores + (size_t)blockIdx.x * COLS;
    float a = -FLT_MAX, b = -FLT_MAX;
    int ia = -1, ib = -1;
    for (int c = t; c < COLS; c += BLOCK) {
        float v = row[c];
        if (v > a) { b = a; ib = ia; a = v; ia = c; }
        else if (v > b) { b = v; ib = c; }
    }
    for (int s = 16; s > 0; s /= 2) {
        float a2 = __shfl_down_sync(0xffffffffu, a, s), b2 = __shfl_down_sync(0xffffffffu, b, s);
        int ia2 = __shfl_down_sync(0xffffffffu, ia, s), ib2 = __shfl_down_sync(0xffffffffu, ib, s);
        if (a2 > a) {
            bool old = a > b2;
            b = old ? a : b2; ib = old ? ia : ib2; a = a2; ia = ia2;
        } else if (a2 > b) { b = a2; ib = ia2; }
    }
    if (t == 0) { second[blockIdx.x] = b; where[blockIdx.x] = ib; }
}

int main() {
    std::vector<float> scores(ROWS * COLS), second(ROWS);
    std::vector<int> where(ROWS);
    std::ifstream in("data/scores.bin", std::ios::binary);
    in.read((char*)scores.data(), scores.size() * sizeof(float));
    if (!in) { std::cerr << "data/scores.bin\n"; return 1; }
    float *d_scores, *d_second; int* d_where;
    cudaMalloc(&d_scores, scores.size() * sizeof(float));
    cudaMalloc(&d_second, ROWS * sizeof(float));
    cudaMalloc(&d_where, ROWS * sizeof(int));
    cudaMemcpy(d_scores, scores.data(), scores.size() * sizeof(float), cudaMemcpyHostToDevice);
    second_largest<<<ROWS, BLOCK>>>(d_scores, d_second, d_where);
    cudaMemcpy(second.data(), d_second, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(where.data(), d_where, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/second.bin", std::ios::binary).write((char*)second.data(), ROWS * sizeof(float));
    std::ofstream("data/where.bin", std::ios::binary).write((char*)where.data(), ROWS * sizeof(int));
    cudaFree(d_scores); cudaFree(d_second); cudaFree(d_where);
}

