#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(values.data(), sizeof(T), count, f) != count) {
        fprintf(stderr, "could not read %s\n", path);
        exit(1);
    }
    fclose(f);
    return values;
}

template <typename T>
void store(const char* path, const std::vector<T>& values) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(values.data(), sizeof(T), values.size(), f) != values.size()) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kBatch = 1;
constexpr int kChannels = 4;
constexpr int kHeight = 40;
constexpr int kWidth = 50;

// A 32 x 8 tile with its border of one is staged in shared memory.
__global__ void funnel_tiled(const float *__restrict__ x, const float *__restrict__ weight,
                             const float *__restrict__ bias, float *__restrict__ y) {
    __shared__ float tile[10][35];
    const int c = blockIdx.z % kChannels;
    const size_t base = (size_t)blockIdx.z * kHeight * kWidth;
    const int w0 = blockIdx.x * 32 - 1, h0 = blockIdx.y * 8 - 1;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
        const int h = h0 + k / 34, w = w0 + k % 34;
        const bool inside = h >= 0 && h < kHeight && w >= 0 && w < kWidth;
        tile[k / 34][k % 34] = inside ? x[base + h * kWidth + w] : 0.0f;
    }
    float f[9];
    for (int k = 0; k < 9; ++k) f[k] = weight[c * 9 + k];
    __syncthreads();
    const int w = w0 + 1 + threadIdx.x, h = h0 + 1 + threadIdx.y;
    if (w < kWidth && h < kHeight) {
        float t = bias[c];
#pragma unroll
        for (int k = 0; k < 9; ++k) t = fmaf(f[k], tile[threadIdx.y + k / 3][threadIdx.x + k % 3], t);
        y[base + h * kWidth + w] = fmaxf(tile[threadIdx.y + 1][threadIdx.x + 1], t);
    }
}

int main(void) {
    constexpr size_t n = kBatch * kChannels * kHeight * kWidth;
    constexpr size_t weight_count = kChannels * 3 * 3;
    auto host_x = load<float>("data/x.bin", n);
    const auto host_weight = load<float>("data/weight.bin", weight_count);
    auto host_bias = load<float>("data/bias.bin", kChannels);
    std::vector<float> host_y(n);

    float *dev_x, *dev_weight, *dev_bias, *dev_y;
    cudaMalloc(&dev_x, n * sizeof(float));
    cudaMalloc(&dev_weight, weight_count * sizeof(float));
    cudaMalloc(&dev_bias, kChannels * sizeof(float));
    cudaMalloc(&dev_y, n * sizeof(float));
    cudaMemcpy(dev_x, host_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_weight, host_weight.data(), weight_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_bias, host_bias.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kWidth + 31) / 32, (kHeight + 7) / 8, kBatch * kChannels);
    funnel_tiled<<<grid, block>>>(dev_x, dev_weight, dev_bias, dev_y);
    if (auto status = cudaGetLastError(); status != cudaSuccess) {
        fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
        return 1;
    }

    cudaMemcpy(host_y.data(), dev_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/y.bin", host_y);

    cudaFree(dev_y);
    cudaFree(dev_bias);
    cudaFree(dev_weight);
    cudaFree(dev_x);
    return 0;
}
