#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bytes(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void write_bytes(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

const int ROWS = 30;
const int COLS = 500;
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void gabor_rows(const float* __restrict__ x, const float* __restrict__ omega,
                           const float* __restrict__ scale, float* __restrict__ real, float* __restrict__ imag) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    const float w = omega[c], a = scale[c];
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
        const int at = r * COLS + c;
        const float v = x[at];
        float sine, cosine;
        sincosf(w * v, &sine, &cosine);
        const float envelope = __expf(-(a * v) * (a * v));
        real[at] = envelope * cosine;
        imag[at] = envelope * sine;
    }
}

int main() {
    const int numel = ROWS * COLS;
    float* h_x = (float*)malloc(numel * sizeof(float));
    float* h_omega = (float*)malloc(COLS * sizeof(float));
    float* h_scale = (float*)malloc(COLS * sizeof(float));
    float* h_real = (float*)malloc(numel * sizeof(float));
    float* h_imag = (float*)malloc(numel * sizeof(float));
    read_bytes("data/x.bin", h_x, numel * sizeof(float));
    read_bytes("data/omega.bin", h_omega, COLS * sizeof(float));
    read_bytes("data/scale.bin", h_scale, COLS * sizeof(float));

    float* d_x;
    float* d_omega;
    float* d_scale;
    float* d_real;
    float* d_imag;
    cudaMalloc(&d_x, numel * sizeof(float));
    cudaMemcpy(d_x, h_x, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_omega, COLS * sizeof(float));
    cudaMemcpy(d_omega, h_omega, COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_scale, COLS * sizeof(float));
    cudaMemcpy(d_scale, h_scale, COLS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_real, numel * sizeof(float));
    cudaMalloc(&d_imag, numel * sizeof(float));

    dim3 grid(CEIL_DIV(COLS, 128), ROWS < 64 ? ROWS : 64);
    gabor_rows<<<grid, 128>>>(d_x, d_omega, d_scale, d_real, d_imag);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_real, d_real, numel * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_imag, d_imag, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_bytes("data/real.bin", h_real, numel * sizeof(float));
    write_bytes("data/imag.bin", h_imag, numel * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_omega);
    cudaFree(d_scale);
    cudaFree(d_real);
    cudaFree(d_imag);
    free(h_x);
    free(h_omega);
    free(h_scale);
    free(h_real);
    free(h_imag);
    return 0;
}
