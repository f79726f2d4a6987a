#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define PATHS 300
#define STEPS 120

__global__ void knock_out(const float* path, const float* strike, float* payoff, int* hit) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= PATHS) return;
    const float* row = path + (size_t)p * STEPS;
    int when = -1;
    for (int k = 0; k < STEPS; k++) {
        if (row[k] <= 85.0f) {
            when = k;
            break;
        }
    }
    hit[p] = when;
    if (when >= 0) payoff[p] = 2.5f * expf(-0.04f * (when + 1) / STEPS);
    else payoff[p] = expf(-0.04f) * fmaxf(row[STEPS - 1] - strike[p], 0.0f);
}

int main() {
    const size_t elements = (size_t)PATHS * STEPS;
    std::vector<float> path(elements), strike(PATHS), payoff(PATHS);
    std::vector<int> hit(PATHS);
    std::ifstream f_path("data/path.bin", std::ios::binary);
    if (!f_path.read((char*)path.data(), elements * sizeof(float))) return 1;
    std::ifstream f_strike("data/strike.bin", std::ios::binary);
    if (!f_strike.read((char*)strike.data(), PATHS * sizeof(float))) return 1;
    float* d_path;
    float* d_strike;
    float* d_payoff;
    int* d_hit;
    cudaMalloc(&d_path, elements * sizeof(float));
    cudaMalloc(&d_strike, PATHS * sizeof(float));
    cudaMalloc(&d_payoff, PATHS * sizeof(float));
    cudaMalloc(&d_hit, PATHS * sizeof(int));

    cudaMemcpy(d_path, path.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_strike, strike.data(), PATHS * sizeof(float), cudaMemcpyHostToDevice);
    knock_out<<<(PATHS + 128 - 1) / 128, 128>>>(d_path, d_strike, d_payoff, d_hit);
    cudaMemcpy(payoff.data(), d_payoff, PATHS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hit.data(), d_hit, PATHS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/payoff.bin", std::ios::binary).write((char*)payoff.data(), PATHS * sizeof(float));
    std::ofstream("data/hit.bin", std::ios::binary).write((char*)hit.data(), PATHS * sizeof(int));
    return 0;
}
