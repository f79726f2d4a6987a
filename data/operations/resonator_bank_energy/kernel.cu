#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_floats(const std::string& path, float* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data), count * sizeof(float))) {
        std::cerr << "cannot read " << path << std::endl;
        std::exit(1);
    }
}

void write_floats(const std::string& path, const float* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int kResonators = 100;
constexpr int kSamples = 600;

const int THREADS = 64;
const int CHUNK = 512;

// The signal passes through shared memory in chunks; the energy is summed chunk by chunk, which keeps it accurate.
__global__ void resonator_bank(const float* __restrict__ x, const float* __restrict__ a1,
                               const float* __restrict__ a2, float* energy, float* last) {
    __shared__ float piece[CHUNK];
    const int j = blockIdx.x * THREADS + threadIdx.x;
    const bool used = j < kResonators;
    const float c1 = used ? a1[j] : 0.0f;
    const float c2 = used ? a2[j] : 0.0f;
    float y1 = 0.0f, y2 = 0.0f, total = 0.0f;
    for (int start = 0; start < kSamples; start += CHUNK) {
        const int size = min(CHUNK, kSamples - start);
        __syncthreads();
        for (int i = threadIdx.x; i < size; i += THREADS) piece[i] = x[start + i];
        __syncthreads();
        float part = 0.0f;
        for (int i = 0; i < size; ++i) {
            const float y = fmaf(c1, y1, fmaf(c2, y2, piece[i]));
            y2 = y1;
            y1 = y;
            part = fmaf(y, y, part);
        }
        total += part;
    }
    if (used) {
        energy[j] = total / kSamples;
        last[j] = y1;
    }
}

int main() {
    float* h_x = new float[kSamples];
    float* h_a1 = new float[kResonators];
    float* h_a2 = new float[kResonators];
    float* h_energy = new float[kResonators];
    float* h_last = new float[kResonators];
    read_floats("data/x.bin", h_x, kSamples);
    read_floats("data/a1.bin", h_a1, kResonators);
    read_floats("data/a2.bin", h_a2, kResonators);

    float* d_x = nullptr;
    float* d_a1 = nullptr;
    float* d_a2 = nullptr;
    float* d_energy = nullptr;
    float* d_last = nullptr;
    cudaMalloc(&d_x, kSamples * sizeof(float));
    cudaMalloc(&d_a1, kResonators * sizeof(float));
    cudaMalloc(&d_a2, kResonators * sizeof(float));
    cudaMalloc((void**)&d_energy, kResonators * sizeof(float));
    cudaMalloc((void**)&d_last, kResonators * sizeof(float));
    cudaMemcpy(d_x, h_x, kSamples * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a1, h_a1, kResonators * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a2, h_a2, kResonators * sizeof(float), cudaMemcpyHostToDevice);

    resonator_bank<<<(kResonators + THREADS - 1) / THREADS, THREADS>>>(d_x, d_a1, d_a2, d_energy, d_last);

    cudaMemcpy(h_energy, d_energy, kResonators * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_last, d_last, kResonators * sizeof(float), cudaMemcpyDeviceToHost);
    write_floats("data/energy.bin", h_energy, kResonators);
    write_floats("data/last.bin", h_last, kResonators);

    cudaFree(d_x);
    cudaFree(d_a1);
    cudaFree(d_a2);
    cudaFree(d_energy);
    cudaFree(d_last);
    delete[] h_x;
    delete[] h_a1;
    delete[] h_a2;
    delete[] h_energy;
    delete[] h_last;
    return 0;
}
