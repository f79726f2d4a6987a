#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void fetch(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void put(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

constexpr int kBatch = 2;
constexpr int kChannels = 9;
constexpr int kPlane = 800;
static inline int div_up(int a, int b) { return (a + b - 1) / b; }

__global__ void quantise(const float* x, const float* clip, unsigned char* code, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = clip[(i / kPlane) % kChannels];
        float v = fminf(fmaxf(x[i], 0.0f), a);
        float q = rintf(v * (15.0f / a));
        code[i] = (unsigned char)q;
        y[i] = q * (a / 15.0f);
    }
}

int main() {
    const int count = kBatch * kChannels * kPlane;
    float* x = new float[count];
    float* clip = new float[kChannels];
    unsigned char* code = new unsigned char[count];
    float* y = new float[count];
    fetch("data/x.bin", x, count * sizeof(float));
    fetch("data/clip.bin", clip, kChannels * sizeof(float));

    float *d_x, *d_clip, *d_y;
    unsigned char* d_code;
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMemcpy(d_x, x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_clip, kChannels * sizeof(float));
    cudaMemcpy(d_clip, clip, kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_code, count * sizeof(unsigned char));
    cudaMalloc(&d_y, count * sizeof(float));

    const int threads = 256;
    const int blocks = div_up(count, threads);
    quantise<<<blocks, threads>>>(d_x, d_clip, d_code, d_y, count);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(code, d_code, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    put("data/code.bin", code, count * sizeof(unsigned char));
    put("data/y.bin", y, count * sizeof(float));

    cudaFree(d_y);
    cudaFree(d_code);
    cudaFree(d_clip);
    cudaFree(d_x);
    delete[] x;
    delete[] clip;
    delete[] code;
    delete[] y;
    return 0;
}
