#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) {
        std::cerr << "cannot read " << path << "\n";
        exit(1);
    }
    return values;
}

template <typename T>
void saveVector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kBatch = 3;
constexpr int kChannels = 7;
constexpr int kPlane = 500;

// One block per channel walks over that channel's planes of all batch items.
__global__ void rectifier_gradients(const float* x, const float* slope, const float* dy, float* dx, float* dslope) {
    __shared__ float sums[256];
    const int c = blockIdx.x;
    const float a = slope[c];
    float sum = 0.0f;
    for (int b = 0; b < kBatch; ++b) {
        const size_t base = ((size_t)b * kChannels + c) * kPlane;
        for (int i = threadIdx.x; i < kPlane; i += blockDim.x) {
            const float v = x[base + i], g = dy[base + i];
            if (v > 0.0f) {
                dx[base + i] = g;
            } else {
                dx[base + i] = a * g;
                sum += v * g;
            }
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) dslope[c] = sums[0];
}

int main() {
    constexpr size_t count = kBatch * kChannels * kPlane;
    auto host_x = loadVector<float>("data/x.bin", count);
    const auto host_slope = loadVector<float>("data/slope.bin", kChannels);
    auto host_dy = loadVector<float>("data/dy.bin", count);
    std::vector<float> host_dx(count);
    std::vector<float> host_dslope(kChannels);

    float *dev_x = nullptr, *dev_slope = nullptr, *dev_dy = nullptr, *dev_dx = nullptr, *dev_dslope = nullptr;
    cudaMalloc(&dev_x, count * sizeof(float));
    cudaMalloc(&dev_slope, kChannels * sizeof(float));
    cudaMalloc(&dev_dy, count * sizeof(float));
    cudaMalloc(&dev_dx, count * sizeof(float));
    cudaMalloc(&dev_dslope, kChannels * sizeof(float));
    cudaMemcpy(dev_x, host_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_slope, host_slope.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_dy, host_dy.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    rectifier_gradients<<<kChannels, 256>>>(dev_x, dev_slope, dev_dy, dev_dx, dev_dslope);
    if (auto err = cudaGetLastError(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(host_dx.data(), dev_dx, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_dslope.data(), dev_dslope, kChannels * sizeof(float), cudaMemcpyDeviceToHost);
    saveVector("data/dx.bin", host_dx);
    saveVector("data/dslope.bin", host_dslope);

    cudaFree(dev_dslope);
    cudaFree(dev_dx);
    cudaFree(dev_dy);
    cudaFree(dev_slope);
    cudaFree(dev_x);
    return 0;
}
