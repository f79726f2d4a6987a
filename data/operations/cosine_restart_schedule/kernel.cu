#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, int* dst, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(dst), n * sizeof(int))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& path, const int* dst, size_t n) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), n * sizeof(int));
    if (!file) std::cerr << "error writing " << path << std::endl;
}

void write_binary(const std::string& path, const float* dst, size_t n) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), n * sizeof(float));
}
//@given

const int N = 8000;

__constant__ float kPeaks[16] = {0.1f, 0.08f, 0.064f, 0.0512f, 0.04096f, 0.032768f, 0.0262144f, 0.02097152f,
                                 0.016777216f, 0.0134217728f, 0.0107374182f, 0.00858993459f, 0.00687194767f,
                                 0.00549755814f, 0.00439804651f, 0.00351843721f};

// Cycle c starts at 1000 * (2^c - 1), so c is the position of the highest bit of s / 1000 + 1.
__global__ void schedule_bits(const int* __restrict__ step, float* __restrict__ rate, int* __restrict__ cycle) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        const int t = step[i];
        float r = 0.0002f * (float)(t + 1);
        int c = -1;
        if (t >= 500) {
            const int s = t - 500;
            c = 31 - __clz(s / 1000 + 1);
            const int length = 1000 << c;
            const int p = s - (length - 1000);
            r = 0.001f + 0.5f * (kPeaks[c] - 0.001f) * (1.0f + cosf(3.14159265f * ((float)p / (float)length)));
        }
        rate[i] = r;
        cycle[i] = c;
    }
}

int main() {
    int* h_step = new int[N];
    read_binary("data/step.bin", h_step, N);
    float* h_rate = new float[N];
    int* h_cycle = new int[N];

    int* d_step = nullptr;
    float* d_rate = nullptr;
    int* d_cycle = nullptr;
    cudaMalloc(&d_step, N * sizeof(int));
    cudaMalloc(&d_rate, N * sizeof(float));
    cudaMalloc(&d_cycle, N * sizeof(int));
    cudaMemcpy(d_step, h_step, N * sizeof(int), cudaMemcpyHostToDevice);

    schedule_bits<<<1024, 256>>>(d_step, d_rate, d_cycle);

    cudaMemcpy(h_rate, d_rate, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_cycle, d_cycle, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/rate.bin", h_rate, N);
    write_binary("data/cycle.bin", h_cycle, N);

    cudaFree(d_step);
    cudaFree(d_rate);
    cudaFree(d_cycle);
    delete[] h_step;
    delete[] h_rate;
    delete[] h_cycle;
    return 0;
}
