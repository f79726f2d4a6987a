#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 35
#define COLS 350
#define NUMEL (ROWS * COLS)

__global__ void elish(const float* x, const float* shift, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i] + shift[i % COLS];
        float s = 1.0f / (1.0f + expf(-v));
        y[i] = v >= 0.0f ? v * s : (expf(v) - 1.0f) * s;
    }
}

int main() {
    std::vector<float> h_x(NUMEL);
    std::vector<float> h_shift(COLS);
    std::vector<float> h_y(NUMEL);
    if (!std::ifstream("data/x.bin", std::ios::binary).read((char*)h_x.data(), NUMEL * sizeof(float))) return 1;
    if (!std::ifstream("data/shift.bin", std::ios::binary).read((char*)h_shift.data(), COLS * sizeof(float))) return 1;
    float *d_x = nullptr, *d_shift = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, NUMEL * sizeof(float));
    cudaMalloc(&d_shift, COLS * sizeof(float));
    cudaMalloc(&d_y, NUMEL * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), NUMEL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_shift, h_shift.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
    elish<<<(NUMEL + 255) / 256, 256>>>(d_x, d_shift, d_y, NUMEL);
    cudaMemcpy(h_y.data(), d_y, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write((char*)h_y.data(), NUMEL * sizeof(float));
    cudaFree(d_x); cudaFree(d_shift); cudaFree(d_y);
    return 0;
}
