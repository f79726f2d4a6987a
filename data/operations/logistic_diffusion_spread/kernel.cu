#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

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

constexpr int kHeight = 60;
constexpr int kWidth = 110;
constexpr int kSteps = 5;

template <typename T>
void input_from(const char* path, std::vector<T>& out) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(out.data()), out.size() * sizeof(T));
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
}

// A block advances one row; the row itself is staged in shared memory.
__global__ void fisher_rows(const float* __restrict__ n, const float* __restrict__ g, float* __restrict__ out) {
    __shared__ float row[kWidth];
    const int y = blockIdx.x;
    const float* up = n + (size_t)(y == 0 ? 1 : y - 1) * kWidth;
    const float* down = n + (size_t)(y == kHeight - 1 ? kHeight - 2 : y + 1) * kWidth;
    const size_t base = (size_t)y * kWidth;
    for (int x = threadIdx.x; x < kWidth; x += blockDim.x) row[x] = n[base + x];
    __syncthreads();
    for (int x = threadIdx.x; x < kWidth; x += blockDim.x) {
        float c = row[x];
        float sides = row[x == 0 ? 1 : x - 1] + row[x == kWidth - 1 ? kWidth - 2 : x + 1];
        float rate = 0.1f * g[base + x] * (1.0f - c);
        out[base + x] = c * (0.4f + rate) + 0.15f * (sides + up[x] + down[x]);
    }
}

int main() {
    const size_t num = kHeight * kWidth;
    std::vector<float> host_density(num);
    std::vector<float> host_growth(num);
    std::vector<float> host_spread(num);
    input_from("data/density.bin", host_density);
    input_from("data/growth.bin", host_growth);

    GpuArray<float> d_density(num);
    GpuArray<float> d_growth(num);
    GpuArray<float> d_spread(num);
    GpuArray<float> d_back(num);
    cudaMemcpy(d_density.ptr, host_density.data(), num * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_growth.ptr, host_growth.data(), num * sizeof(float), cudaMemcpyHostToDevice);

    float* ping[2] = {d_back.ptr, d_spread.ptr};
    const float* from = d_density.ptr;
    for (int left = kSteps; left > 0; --left) {
        fisher_rows<<<kHeight, 256>>>(from, d_growth.ptr, ping[left % 2]);
        from = ping[left % 2];
    }
    if (cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error("launch failed");
    }

    cudaMemcpy(host_spread.data(), d_spread.ptr, num * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream spread_file("data/spread.bin", std::ios::binary);
    spread_file.write(reinterpret_cast<const char*>(host_spread.data()), num * sizeof(float));
    return 0;
}
