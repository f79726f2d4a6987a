#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kSide = 101;
constexpr int kNRadii = 40;
constexpr int kNAngles = 180;

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    explicit DeviceArray(size_t count) {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

#define THREADS 256

// A block does a whole ring, samples and maximum together.
__global__ void unwrap_ring(const float* __restrict__ image, float* __restrict__ polar,
        float* __restrict__ ring_peak) {
    __shared__ float best[THREADS];
    const int r = blockIdx.x;
    const float c = 0.5f * (kSide - 1);
    float top_value = -1e30f;
    for (int k = threadIdx.x; k < kNAngles; k += THREADS) {
        float s, co;
        sincospif(2.0f * k / kNAngles, &s, &co);
        float x = fmaf((float)r, co, c), y = fmaf((float)r, s, c);
        int x0 = (int)x, y0 = (int)y;
        float fx = x - x0, fy = y - y0;
        const float* p = image + (size_t)y0 * kSide + x0;
        float a = p[0] + fx * (p[1] - p[0]);
        float b = p[kSide] + fx * (p[kSide + 1] - p[kSide]);
        float v = a + fy * (b - a);
        polar[(size_t)r * kNAngles + k] = v;
        top_value = fmaxf(top_value, v);
    }
    best[threadIdx.x] = top_value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) ring_peak[r] = best[0];
}

int main() {
    constexpr size_t imageCount = kSide * kSide;
    constexpr size_t polarCount = kNRadii * kNAngles;
    std::vector<float> host_image(imageCount);
    std::vector<float> host_polar(polarCount);
    std::vector<float> host_ring_peak(kNRadii);
    std::ifstream file("data/image.bin", std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(host_image.data()), imageCount * sizeof(float))) {
        throw std::runtime_error("cannot read data/image.bin");
    }

    DeviceArray<float> d_image(imageCount);
    DeviceArray<float> d_polar(polarCount);
    DeviceArray<float> d_ring_peak(kNRadii);
    cudaMemcpy(d_image.data, host_image.data(), imageCount * sizeof(float), cudaMemcpyHostToDevice);

    unwrap_ring<<<kNRadii, THREADS>>>(d_image.data, d_polar.data, d_ring_peak.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(host_polar.data(), d_polar.data, polarCount * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_ring_peak.data(), d_ring_peak.data, kNRadii * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream polar_file("data/polar.bin", std::ios::binary);
    polar_file.write(reinterpret_cast<const char*>(host_polar.data()), polarCount * sizeof(float));
    std::ofstream ring_peak_file("data/ring_peak.bin", std::ios::binary);
    ring_peak_file.write(reinterpret_cast<const char*>(host_ring_peak.data()), kNRadii * sizeof(float));
    return 0;
}
