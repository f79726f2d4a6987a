#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
std::vector<T> read_vector(const char* path, size_t count) {
    std::vector<T> v(count);
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(v.data(), sizeof(T), count, f) != count) {
        fprintf(stderr, "could not read %s\n", path);
        exit(1);
    }
    fclose(f);
    return v;
}

template <typename T>
void write_vector(const char* path, const std::vector<T>& v) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(v.data(), sizeof(T), v.size(), f) != v.size()) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kRows = 50;
constexpr int kCols = 240;
constexpr int kTotal = kRows * kCols;

__device__ __forceinline__ float step5(float x, float a, float b) {
    const float t = __saturatef((x - a) / (b - a));
    return t * t * t * fmaf(t, fmaf(6.0f, t, -15.0f), 10.0f);
}

__global__ void smoother_vec(const float* __restrict__ x, const float* __restrict__ low,
                             const float* __restrict__ high, float* __restrict__ s, int quads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    const float4 a = reinterpret_cast<const float4*>(low)[i];
    const float4 b = reinterpret_cast<const float4*>(high)[i];
    reinterpret_cast<float4*>(s)[i] =
        make_float4(step5(v.x, a.x, b.x), step5(v.y, a.y, b.y), step5(v.z, a.z, b.z), step5(v.w, a.w, b.w));
}

int main() {
    const auto host_x = read_vector<float>("data/x.bin", kTotal);
    auto host_low = read_vector<float>("data/low.bin", kTotal);
    const auto host_high = read_vector<float>("data/high.bin", kTotal);
    std::vector<float> host_s(kTotal);

    float *dev_x = nullptr, *dev_low = nullptr, *dev_high = nullptr, *dev_s = nullptr;
    cudaMalloc(&dev_x, kTotal * sizeof(float));
    cudaMalloc(&dev_low, kTotal * sizeof(float));
    cudaMalloc(&dev_high, kTotal * sizeof(float));
    cudaMalloc(&dev_s, kTotal * sizeof(float));
    cudaMemcpy(dev_x, host_x.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_low, host_low.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_high, host_high.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);

    // rows * cols is a multiple of four
    const int quads = kTotal / 4;
    smoother_vec<<<(quads + 128 - 1) / 128, 128>>>(dev_x, dev_low, dev_high, dev_s, quads);
    if (auto status = cudaDeviceSynchronize(); status != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
        return 1;
    }

    cudaMemcpy(host_s.data(), dev_s, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/s.bin", host_s);

    cudaFree(dev_x);
    cudaFree(dev_low);
    cudaFree(dev_high);
    cudaFree(dev_s);
    return 0;
}
