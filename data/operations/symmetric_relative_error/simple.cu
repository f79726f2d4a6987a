#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void writeFile(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

const int N = 15000;
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void compare(const float* a, const float* b, float* error, unsigned char* close, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float diff = fabsf(a[i] - b[i]);
        float total = fabsf(a[i]) + fabsf(b[i]);
        error[i] = total > 0.0f ? 2.0f * diff / total : 0.0f;
        close[i] = diff <= 1e-4f + 1e-3f * fabsf(b[i]) ? 1 : 0;
    }
}

int main() {
    float* h_a = (float*)malloc(N * sizeof(float));
    float* h_b = (float*)malloc(N * sizeof(float));
    float* h_error = (float*)malloc(N * sizeof(float));
    unsigned char* h_close = (unsigned char*)malloc(N * sizeof(unsigned char));
    readFile("data/a.bin", h_a, N * sizeof(float));
    readFile("data/b.bin", h_b, N * sizeof(float));

    float *d_a, *d_b, *d_error;
    unsigned char* d_close;
    cudaMalloc(&d_a, N * sizeof(float));
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMalloc(&d_error, N * sizeof(float));
    cudaMalloc(&d_close, N * sizeof(unsigned char));
    cudaMemcpy(d_a, h_a, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, N * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    compare<<<DIV_UP(N, threads), threads>>>(d_a, d_b, d_error, d_close, N);
    cudaDeviceSynchronize();
    cudaMemcpy(h_error, d_error, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_close, d_close, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    writeFile("data/error.bin", h_error, N * sizeof(float));
    writeFile("data/close.bin", h_close, N * sizeof(unsigned char));

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_error);
    cudaFree(d_close);
    free(h_a);
    free(h_b);
    free(h_error);
    free(h_close);
    return 0;
}
