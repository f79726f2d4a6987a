#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& name, float* dst, size_t num) {
    std::ifstream in(name, std::ios::binary);
    if (!in) {
        std::cerr << "cannot open " << name << std::endl;
        std::exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), num * sizeof(float));
    if (!in) {
        std::cerr << name << " is too short" << std::endl;
        std::exit(1);
    }
}

void save(const std::string& name, const float* dst, size_t num) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), num * sizeof(float));
}
//@given

constexpr int kHeight = 50;
constexpr int kWidth = 90;
constexpr int kSteps = 6;

#define BX 32
#define BY 8

__global__ void wave_tile(const float* __restrict__ prev, const float* __restrict__ cur, float* __restrict__ next) {
    __shared__ float t[BY + 2][BX + 2];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    const bool inside = x < kWidth && y < kHeight;
    const int i = y * kWidth + x;
    if (inside) {
        t[ly][lx] = cur[i];
        if (lx == 1 && x > 0) t[ly][0] = cur[i - 1];
        if (lx == BX && x + 1 < kWidth) t[ly][BX + 1] = cur[i + 1];
        if (ly == 1 && y > 0) t[0][lx] = cur[i - kWidth];
        if (ly == BY && y + 1 < kHeight) t[BY + 1][lx] = cur[i + kWidth];
    }
    __syncthreads();
    if (!inside) return;
    float c = t[ly][lx], v = c;
    if (x > 0 && y > 0 && x < kWidth - 1 && y < kHeight - 1) {
        float around = t[ly - 1][lx] + t[ly + 1][lx] + t[ly][lx - 1] + t[ly][lx + 1];
        v = (0.8f * c - 0.98f * prev[i] + 0.3f * around) * (1.0f / 1.02f);
    }
    next[i] = v;
}

int main() {
    const size_t num_previous = kHeight * kWidth;
    const size_t num_ring = (size_t)3 * kHeight * kWidth;

    float* h_previous = new float[num_previous];
    float* h_current = new float[num_previous];
    float* h_displacement = new float[num_previous];
    float* d_previous = nullptr;
    float* d_current = nullptr;
    float* d_displacement = nullptr;
    float* d_ring = nullptr;
    cudaMalloc(&d_previous, num_previous * sizeof(float));
    cudaMalloc(&d_current, num_previous * sizeof(float));
    cudaMalloc(&d_displacement, num_previous * sizeof(float));
    cudaMalloc(&d_ring, num_ring * sizeof(float));

    load("data/previous.bin", h_previous, num_previous);
    load("data/current.bin", h_current, num_previous);
    cudaMemcpy(d_previous, h_previous, num_previous * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_current, h_current, num_previous * sizeof(float), cudaMemcpyHostToDevice);

    const int cells = kHeight * kWidth;
    dim3 block(BX, BY), grid((kWidth + BX - 1) / BX, (kHeight + BY - 1) / BY);
    const float* prev = d_previous;
    const float* cur = d_current;
    for (int s = 0; s < kSteps; s++) {
        float* next = s + 1 == kSteps ? d_displacement : d_ring + (s % 3) * cells;
        wave_tile<<<grid, block>>>(prev, cur, next);
        prev = cur;
        cur = next;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_displacement, d_displacement, num_previous * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/displacement.bin", h_displacement, num_previous);

    cudaFree(d_previous);
    cudaFree(d_current);
    cudaFree(d_displacement);
    cudaFree(d_ring);
    delete[] h_previous;
    delete[] h_current;
    delete[] h_displacement;
    return 0;
}
