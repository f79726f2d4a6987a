#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceBuffer {
    T* p = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~DeviceBuffer() { cudaFree(p); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

constexpr int kHeight = 70;
constexpr int kWidth = 120;

template <typename T>
void read_values(const char* path, std::vector<T>& out) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(out.data()), out.size() * sizeof(T));
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
}

// Rows: the XYZ matrix with the white point divided out.
__constant__ float to_xyz[9] = {
    0.4124f / 0.95047f, 0.3576f / 0.95047f, 0.1805f / 0.95047f,
    0.2126f, 0.7152f, 0.0722f,
    0.0193f / 1.08883f, 0.1192f / 1.08883f, 0.9505f / 1.08883f};

__global__ void lab_grid_stride(const float* __restrict__ rgb, float* __restrict__ lab, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const float c0 = rgb[i], c1 = rgb[i + n], c2 = rgb[i + 2 * n];
        float f[3];
        for (int k = 0; k < 3; ++k) {
            const float t = to_xyz[3 * k] * c0 + to_xyz[3 * k + 1] * c1 + to_xyz[3 * k + 2] * c2;
            f[k] = t > 0.008856452f ? cbrtf(t) : fmaf(7.787037f, t, 16.0f / 116.0f);
        }
        lab[i] = fmaf(116.0f, f[1], -16.0f);
        lab[i + n] = 500.0f * (f[0] - f[1]);
        lab[i + 2 * n] = 200.0f * (f[1] - f[2]);
    }
}

int main() {
    constexpr size_t n = 3 * kHeight * kWidth;
    std::vector<float> host_rgb(n);
    std::vector<float> host_lab(n);
    read_values("data/rgb.bin", host_rgb);

    DeviceBuffer<float> d_rgb(n);
    DeviceBuffer<float> d_lab(n);
    cudaMemcpy(d_rgb.p, host_rgb.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    const int pixels = kHeight * kWidth;
    int blocks = (pixels + 255) / 256;
    blocks = blocks < 1024 ? blocks : 1024;
    lab_grid_stride<<<blocks, 256>>>(d_rgb.p, d_lab.p, pixels);
    if (cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error("launch failed");
    }

    cudaMemcpy(host_lab.data(), d_lab.p, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream lab_file("data/lab.bin", std::ios::binary);
    lab_file.write(reinterpret_cast<const char*>(host_lab.data()), n * sizeof(float));
    return 0;
}
