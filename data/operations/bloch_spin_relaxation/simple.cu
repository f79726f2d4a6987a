#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define VOXELS 2000
#define PULSES 6

__global__ void blochSequence(const float* tissue, const float* pulse, float* magnetization, float* strongest) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= VOXELS) return;
    float r1 = tissue[3 * v], r2 = tissue[3 * v + 1], w = tissue[3 * v + 2];
    float x = 0.0f, y = 0.0f, z = 1.0f, top = 0.0f;
    for (int p = 0; p < PULSES; ++p) {
        float a = pulse[2 * p], t = pulse[2 * p + 1];
        float y1 = y * cosf(a) - z * sinf(a);
        float z1 = y * sinf(a) + z * cosf(a);
        if (p > 0) top = fmaxf(top, sqrtf(x * x + y1 * y1));
        float c = cosf(w * t), s = sinf(w * t), decay = expf(-r2 * t);
        float x1 = x;
        x = decay * (x1 * c - y1 * s);
        y = decay * (x1 * s + y1 * c);
        z = 1.0f + (z1 - 1.0f) * expf(-r1 * t);
    }
    magnetization[3 * v] = x;
    magnetization[3 * v + 1] = y;
    magnetization[3 * v + 2] = z;
    strongest[v] = top;
}

int main() {
    float* tissue = nullptr;
    float* pulse = nullptr;
    float* magnetization = nullptr;
    float* strongest = nullptr;
    cudaMallocManaged(&tissue, VOXELS * 3 * sizeof(float));
    cudaMallocManaged(&pulse, PULSES * 2 * sizeof(float));
    cudaMallocManaged(&magnetization, VOXELS * 3 * sizeof(float));
    cudaMallocManaged(&strongest, VOXELS * sizeof(float));

    std::ifstream tissue_file("data/tissue.bin", std::ios::binary);
    tissue_file.read(reinterpret_cast<char*>(tissue), VOXELS * 3 * sizeof(float));
    std::ifstream pulse_file("data/pulse.bin", std::ios::binary);
    pulse_file.read(reinterpret_cast<char*>(pulse), PULSES * 2 * sizeof(float));
    if (!tissue_file || !pulse_file) {
        std::cerr << "input missing or too short\n";
        return 1;
    }

    blochSequence<<<(VOXELS + 127) / 128, 128>>>(tissue, pulse, magnetization, strongest);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    std::ofstream("data/magnetization.bin", std::ios::binary).write(reinterpret_cast<char*>(magnetization),
            VOXELS * 3 * sizeof(float));
    std::ofstream("data/strongest.bin", std::ios::binary).write(reinterpret_cast<char*>(strongest),
            VOXELS * sizeof(float));

    cudaFree(tissue);
    cudaFree(pulse);
    cudaFree(magnetization);
    cudaFree(strongest);
    return 0;
}
