#include <fstream>
#include <stdexcept>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 40;
constexpr int kCols = 400;
constexpr int kWindow = 48;
constexpr int kBlock = 128;

template <typename T>
struct GpuArray {
    T* ptr = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

__global__ void trailing_rms_tile(const float* __restrict__ x, float* __restrict__ rms) {
    __shared__ float squares[kBlock + kWindow - 1];
    const float* row = x + (size_t)blockIdx.y * kCols;
    int first = blockIdx.x * kBlock - (kWindow - 1);
    for (int k = threadIdx.x; k < kBlock + kWindow - 1; k += kBlock) {
        int i = first + k;
        float v = i >= 0 && i < kCols ? row[i] : 0.0f;
        squares[k] = v * v;
    }
    __syncthreads();
    int c = blockIdx.x * kBlock + threadIdx.x;
    if (c >= kCols) return;
    float sum = 0.0f;
    for (int k = 0; k < kWindow; ++k) sum += squares[threadIdx.x + k];
    rms[(size_t)blockIdx.y * kCols + c] = sqrtf(sum / min(c + 1, kWindow));
}

int main() {
    const size_t elements = (size_t)kRows * kCols;
    std::vector<float> x(elements);
    std::vector<float> rms(elements);
    std::ifstream in("data/x.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(x.data()), elements * sizeof(float)))
        throw std::runtime_error("cannot read data/x.bin");

    GpuArray<float> d_x(elements);
    GpuArray<float> d_rms(elements);
    cudaMemcpy(d_x.ptr, x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kCols - 1) / kBlock + 1, kRows);
    trailing_rms_tile<<<grid, kBlock>>>(d_x.ptr, d_rms.ptr);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    cudaMemcpy(rms.data(), d_rms.ptr, elements * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/rms.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(rms.data()), elements * sizeof(float));
    return 0;
}
