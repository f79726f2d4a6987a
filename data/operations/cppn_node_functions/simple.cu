#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const char* path, size_t count) {
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
void write_vector(const char* path, const std::vector<T>& data) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(data.data(), sizeof(T), data.size(), f) != data.size()) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kNodes = 20;
constexpr int kPoints = 900;
constexpr int kNumel = kNodes * kPoints;

__global__ void node_functions(const float* x, const int* kind, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float r = 0.0f;
    switch (kind[i / kPoints]) {
        case 0: r = sinf(v); break;
        case 1: r = expf(-v * v); break;
        case 2: r = fabsf(v); break;
        case 3: r = 2.0f * (v - floorf(v + 0.5f)); break;
        case 4: r = v * v * v / (1.0f + v * v); break;
        default: r = v > 0.0f ? 1.0f : -1.0f;
    }
    y[i] = r;
}

int main() {
    auto host_x = read_vector<float>("data/x.bin", kNumel);
    auto host_kind = read_vector<int>("data/kind.bin", kNodes);
    std::vector<float> host_y(kNumel);

    float *dev_x, *dev_y;
    int* dev_kind;
    cudaMalloc(&dev_x, kNumel * sizeof(float));
    cudaMalloc(&dev_kind, kNodes * sizeof(int));
    cudaMalloc(&dev_y, kNumel * sizeof(float));
    cudaMemcpy(dev_x, host_x.data(), kNumel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_kind, host_kind.data(), kNodes * sizeof(int), cudaMemcpyHostToDevice);

    constexpr int threads = 256;
    constexpr int blocks = (kNumel + threads - 1) / threads;
    node_functions<<<blocks, threads>>>(dev_x, dev_kind, dev_y, kNumel);
    if (auto error = cudaGetLastError(); error != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
        return 1;
    }

    cudaMemcpy(host_y.data(), dev_y, kNumel * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/y.bin", host_y);
    cudaFree(dev_x);
    cudaFree(dev_kind);
    cudaFree(dev_y);
}
