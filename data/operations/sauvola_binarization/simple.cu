#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kHeight = 60;
constexpr int kWidth = 90;
constexpr int kRadius = 4;

template <typename T>
struct GpuArray {
    T* ptr = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

__global__ void sauvola(const unsigned char* page, unsigned char* ink) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    int y0 = max(y - kRadius, 0), y1 = min(y + kRadius, kHeight - 1);
    int x0 = max(x - kRadius, 0), x1 = min(x + kRadius, kWidth - 1);
    int n = (y1 - y0 + 1) * (x1 - x0 + 1);
    int sum = 0, squares = 0;
    for (int yy = y0; yy <= y1; ++yy)
        for (int xx = x0; xx <= x1; ++xx) {
            int v = page[yy * kWidth + xx];
            sum += v;
            squares += v * v;
        }
    double mean = (double)sum / n;
    double variance = (double)squares / n - mean * mean;
    double deviation = sqrt(fmax(variance, 0.0));
    double limit = mean * (1.0 + 0.2 * (deviation / 128.0 - 1.0));
    ink[y * kWidth + x] = page[y * kWidth + x] <= limit ? 1 : 0;
}

int main() {
    constexpr int count = kHeight * kWidth;
    std::vector<unsigned char> h_page(count);
    std::vector<unsigned char> h_ink(count);
    std::ifstream file("data/page.bin", std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(h_page.data()), count * sizeof(unsigned char))) {
        throw std::runtime_error("cannot read data/page.bin");
    }

    GpuArray<unsigned char> d_page(count);
    GpuArray<unsigned char> d_ink(count);
    cudaMemcpy(d_page.ptr, h_page.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((kWidth + 15) / 16, (kHeight + 15) / 16);
    sauvola<<<grid, block>>>(d_page.ptr, d_ink.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(h_ink.data(), d_ink.ptr, count * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream ink_file("data/ink.bin", std::ios::binary);
    ink_file.write(reinterpret_cast<const char*>(h_ink.data()), count * sizeof(unsigned char));
    return 0;
}
