#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define CABLES 40
#define CELLS 100
const int BLOCK = 128;
const int STEPS = 16;

// One block a cable: the voltages stay in shared memory, two rows in turn, and nothing is written until the end.
__global__ void cable_run(const float* __restrict__ voltage, const float* __restrict__ recovery,
                          float* __restrict__ new_voltage, float* __restrict__ new_recovery) {
    __shared__ float v[2][CELLS];
    __shared__ float w[CELLS];
    size_t row = (size_t)blockIdx.x * CELLS;
    for (int c = threadIdx.x; c < CELLS; c += BLOCK) {
        v[0][c] = voltage[row + c];
        w[c] = recovery[row + c];
    }
    __syncthreads();
    for (int s = 0; s < STEPS; ++s) {
        const float* now = v[s % 2];
        float* then = v[1 - s % 2];
        for (int c = threadIdx.x; c < CELLS; c += BLOCK) {
            float x = now[c], y = w[c];
            float around = now[max(c - 1, 0)] + now[min(c + 1, CELLS - 1)];
            float change = x * (1.0f - x * x * (1.0f / 3.0f)) - y + 0.4f + 2.0f * around - 4.0f * x;
            then[c] = x + 0.05f * change;
            w[c] = y + 0.004f * (x + 0.7f - 0.8f * y);
        }
        __syncthreads();
    }
    for (int c = threadIdx.x; c < CELLS; c += BLOCK) {
        new_voltage[row + c] = v[STEPS % 2][c];
        new_recovery[row + c] = w[c];
    }
}

int main() {
    std::vector<float> h_voltage(CABLES * CELLS), h_recovery(CABLES * CELLS), h_new_voltage(CABLES * CELLS),
        h_new_recovery(CABLES * CELLS);
    std::ifstream in_voltage("data/voltage.bin", std::ios::binary);
    if (!in_voltage.read((char*)h_voltage.data(), sizeof(float) * CABLES * CELLS)) return 1;
    std::ifstream in_recovery("data/recovery.bin", std::ios::binary);
    if (!in_recovery.read((char*)h_recovery.data(), sizeof(float) * CABLES * CELLS)) return 1;
    float* d_voltage = nullptr;
    float* d_recovery = nullptr;
    float* d_new_voltage = nullptr;
    float* d_new_recovery = nullptr;
    cudaMalloc(&d_voltage, sizeof(float) * CABLES * CELLS);
    cudaMalloc(&d_recovery, sizeof(float) * CABLES * CELLS);
    cudaMalloc(&d_new_voltage, sizeof(float) * CABLES * CELLS);
    cudaMalloc(&d_new_recovery, sizeof(float) * CABLES * CELLS);
    cudaMemcpy(d_voltage, h_voltage.data(), sizeof(float) * CABLES * CELLS, cudaMemcpyHostToDevice);
    cudaMemcpy(d_recovery, h_recovery.data(), sizeof(float) * CABLES * CELLS, cudaMemcpyHostToDevice);
    cable_run<<<CABLES, BLOCK>>>(d_voltage, d_recovery, d_new_voltage, d_new_recovery);
    cudaMemcpy(h_new_voltage.data(), d_new_voltage, sizeof(float) * CABLES * CELLS, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_new_recovery.data(), d_new_recovery, sizeof(float) * CABLES * CELLS, cudaMemcpyDeviceToHost);
    std::ofstream("data/new_voltage.bin", std::ios::binary).write((char*)h_new_voltage.data(),
        sizeof(float) * CABLES * CELLS);
    std::ofstream("data/new_recovery.bin", std::ios::binary).write((char*)h_new_recovery.data(),
        sizeof(float) * CABLES * CELLS);
    return 0;
}
