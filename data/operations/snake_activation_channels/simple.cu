#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const char* path, size_t count) {
    std::vector<T> data(count);
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(data.data(), sizeof(T), count, f) != count) {
        fprintf(stderr, "could not read %s\n", path);
        exit(1);
    }
    fclose(f);
    return data;
}

template <typename T>
void to_file(const char* path, const std::vector<T>& data) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(data.data(), sizeof(T), data.size(), f) != data.size()) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kBatch = 2;
constexpr int kChannels = 6;
constexpr int kLength = 1000;
constexpr int kSize = kBatch * kChannels * kLength;

__global__ void snake(const float* x, const float* freq, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = freq[(i / kLength) % kChannels];
    float s = sinf(a * x[i]);
    y[i] = x[i] + s * s / a;
}

int main() {
    const auto h_x = from_file<float>("data/x.bin", kSize);
    auto h_freq = from_file<float>("data/freq.bin", kChannels);
    std::vector<float> h_y(kSize);

    float *d_x, *d_freq, *d_y;
    cudaMalloc(&d_x, kSize * sizeof(float));
    cudaMalloc(&d_freq, kChannels * sizeof(float));
    cudaMalloc(&d_y, kSize * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_freq, h_freq.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);

    constexpr int threads = 256;
    constexpr int blocks = (kSize + threads - 1) / threads;
    snake<<<blocks, threads>>>(d_x, d_freq, d_y, kSize);
    if (auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
        return 1;
    }
    cudaMemcpy(h_y.data(), d_y, kSize * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/y.bin", h_y);
    cudaFree(d_x);
    cudaFree(d_freq);
    cudaFree(d_y);
    return 0;
}
