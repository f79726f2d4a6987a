#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <vector>

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

constexpr int kRows = 24;
constexpr int kCols = 600;
constexpr int kBlock = 256;

__device__ float block_sum(float v) {
    __shared__ float buf[kBlock];
    int t = threadIdx.x;
    buf[t] = v;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    float total = buf[0];
    __syncthreads();
    return total;
}

__global__ void correlation(const float* x, const float* y, float* corr) {
    const float* xr = x + (size_t)blockIdx.x * kCols;
    const float* yr = y + (size_t)blockIdx.x * kCols;
    float sx = 0.0f, sy = 0.0f;
    for (int c = threadIdx.x; c < kCols; c += kBlock) {
        sx += xr[c];
        sy += yr[c];
    }
    float mx = block_sum(sx) / kCols;
    float my = block_sum(sy) / kCols;
    float xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int c = threadIdx.x; c < kCols; c += kBlock) {
        float a = xr[c] - mx;
        float b = yr[c] - my;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    xx = block_sum(xx);
    yy = block_sum(yy);
    xy = block_sum(xy);
    if (threadIdx.x == 0) corr[blockIdx.x] = (xx < 1e-12f || yy < 1e-12f) ? 0.0f : xy / sqrtf(xx * yy);
}

int main() {
    const size_t count = (size_t)kRows * kCols;
    std::vector<float> x(count);
    std::vector<float> y(count);
    std::vector<float> corr(kRows);
    std::ifstream xIn("data/x.bin", std::ios::binary);
    if (!xIn.read(reinterpret_cast<char*>(x.data()), count * sizeof(float)))
        throw std::runtime_error("cannot read data/x.bin");
    std::ifstream yIn("data/y.bin", std::ios::binary);
    if (!yIn.read(reinterpret_cast<char*>(y.data()), count * sizeof(float)))
        throw std::runtime_error("cannot read data/y.bin");

    DeviceBuffer<float> gpu_x(count);
    DeviceBuffer<float> gpu_y(count);
    DeviceBuffer<float> gpu_corr(kRows);
    cudaMemcpy(gpu_x.ptr, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(gpu_y.ptr, y.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    correlation<<<kRows, kBlock>>>(gpu_x.ptr, gpu_y.ptr, gpu_corr.ptr);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    cudaMemcpy(corr.data(), gpu_corr.ptr, kRows * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/corr.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(corr.data()), kRows * sizeof(float));
    return 0;
}
