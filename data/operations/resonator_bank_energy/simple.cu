#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kResonators = 100;
constexpr int kSamples = 600;

__global__ void resonate(const float* x, const float* a1, const float* a2, float* energy, float* last) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= kResonators) return;
    float c1 = a1[j], c2 = a2[j];
    float y1 = 0.0f, y2 = 0.0f, sum = 0.0f;
    for (int t = 0; t < kSamples; t++) {
        float y = x[t] + c1 * y1 + c2 * y2;
        y2 = y1;
        y1 = y;
        sum += y * y;
    }
    energy[j] = sum / kSamples;
    last[j] = y1;
}

void run(const float* d_x, const float* d_a1, const float* d_a2, float* d_energy, float* d_last) {
    resonate<<<(kResonators + 63) / 64, 64>>>(d_x, d_a1, d_a2, d_energy, d_last);
}

int main() {
    std::vector<float> host_x(kSamples);
    std::vector<float> host_a1(kResonators);
    std::vector<float> host_a2(kResonators);
    std::vector<float> host_energy(kResonators);
    std::vector<float> host_last(kResonators);
    FILE* f_x = fopen("data/x.bin", "rb");
    if (!f_x || fread(host_x.data(), sizeof(float), host_x.size(), f_x) != host_x.size()) {
        fprintf(stderr, "error reading data/x.bin\n");
        return 1;
    }
    fclose(f_x);
    FILE* f_a1 = fopen("data/a1.bin", "rb");
    if (!f_a1 || fread(host_a1.data(), sizeof(float), host_a1.size(), f_a1) != host_a1.size()) {
        fprintf(stderr, "error reading data/a1.bin\n");
        return 1;
    }
    fclose(f_a1);
    FILE* f_a2 = fopen("data/a2.bin", "rb");
    if (!f_a2 || fread(host_a2.data(), sizeof(float), host_a2.size(), f_a2) != host_a2.size()) {
        fprintf(stderr, "error reading data/a2.bin\n");
        return 1;
    }
    fclose(f_a2);

    float* d_x = nullptr;
    cudaMalloc(&d_x, sizeof(float) * kSamples);
    float* d_a1 = nullptr;
    cudaMalloc(&d_a1, sizeof(float) * kResonators);
    float* d_a2 = nullptr;
    cudaMalloc(&d_a2, sizeof(float) * kResonators);
    float* d_energy = nullptr;
    cudaMalloc(&d_energy, sizeof(float) * kResonators);
    float* d_last = nullptr;
    cudaMalloc(&d_last, sizeof(float) * kResonators);
    cudaMemcpy(d_x, host_x.data(), sizeof(float) * kSamples, cudaMemcpyHostToDevice);
    cudaMemcpy(d_a1, host_a1.data(), sizeof(float) * kResonators, cudaMemcpyHostToDevice);
    cudaMemcpy(d_a2, host_a2.data(), sizeof(float) * kResonators, cudaMemcpyHostToDevice);

    run(d_x, d_a1, d_a2, d_energy, d_last);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(host_energy.data(), d_energy, sizeof(float) * kResonators, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_last.data(), d_last, sizeof(float) * kResonators, cudaMemcpyDeviceToHost);
    FILE* out_energy = fopen("data/energy.bin", "wb");
    fwrite(host_energy.data(), sizeof(float), host_energy.size(), out_energy);
    fclose(out_energy);
    FILE* out_last = fopen("data/last.bin", "wb");
    fwrite(host_last.data(), sizeof(float), host_last.size(), out_last);
    fclose(out_last);
    cudaFree(d_x);
    cudaFree(d_a1);
    cudaFree(d_a2);
    cudaFree(d_energy);
    cudaFree(d_last);
    return 0;
}
