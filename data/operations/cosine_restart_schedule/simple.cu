#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define DIV_UP(x, y) (((x) + (y) - 1) / (y))

const int N = 8000;

__global__ void schedule(const int* step, float* rate, int* cycle, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (step[i] < 500) {
        rate[i] = 0.1f * (step[i] + 1) / 500.0f;
        cycle[i] = -1;
        return;
    }
    int p = step[i] - 500;
    int length = 1000, c = 0;
    float peak = 0.1f;
    while (p >= length) {
        p -= length;
        length *= 2;
        peak *= 0.8f;
        c++;
    }
    float angle = 3.14159265f * ((float)p / (float)length);
    rate[i] = 0.001f + 0.5f * (peak - 0.001f) * (1.0f + cosf(angle));
    cycle[i] = c;
}

void compute(const int* d_step, float* d_rate, int* d_cycle) {
    schedule<<<DIV_UP(N, 256), 256>>>(d_step, d_rate, d_cycle, N);
}

int main() {
    std::vector<int> host_step(N), host_cycle(N);
    std::vector<float> host_rate(N);
    std::ifstream step_in("data/step.bin", std::ios::binary);
    step_in.read(reinterpret_cast<char*>(host_step.data()), N * sizeof(int));
    if (!step_in) {
        std::cerr << "input error" << std::endl;
        return 1;
    }

    int *d_step, *d_cycle;
    float* d_rate;
    cudaMalloc(&d_step, N * sizeof(int));
    cudaMalloc(&d_rate, N * sizeof(float));
    cudaMalloc(&d_cycle, N * sizeof(int));
    cudaMemcpy(d_step, host_step.data(), N * sizeof(int), cudaMemcpyHostToDevice);

    compute(d_step, d_rate, d_cycle);
    cudaDeviceSynchronize();

    cudaMemcpy(host_rate.data(), d_rate, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_cycle.data(), d_cycle, N * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream rate_out("data/rate.bin", std::ios::binary);
    rate_out.write(reinterpret_cast<const char*>(host_rate.data()), N * sizeof(float));
    std::ofstream cycle_out("data/cycle.bin", std::ios::binary);
    cycle_out.write(reinterpret_cast<const char*>(host_cycle.data()), N * sizeof(int));
    cudaFree(d_step);
    cudaFree(d_rate);
    cudaFree(d_cycle);
    return 0;
}
