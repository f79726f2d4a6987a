#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("failed to load " + path);
    return data;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kRows = 10;
constexpr int kSamples = 1500;

__global__ void hilbert_filter(const float* x, float* quadrature) {
    __shared__ float h[31];
    if (threadIdx.x < 31) {
        int k = (int)threadIdx.x - 15;
        float w = 0.54f + 0.46f * cosf(3.14159265f * k / 15.0f);
        h[threadIdx.x] = k % 2 == 0 ? 0.0f : w * 2.0f / (3.14159265f * k);
    }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= kSamples) return;
    const float* row = x + blockIdx.y * kSamples;
    float sum = 0.0f;
    for (int k = -15; k <= 15; k += 2) {
        int s = min(max(t - k, 0), kSamples - 1);
        sum += row[s] * h[k + 15];
    }
    quadrature[blockIdx.y * kSamples + t] = sum;
}

int main() {
    constexpr size_t elements = kRows * kSamples;
    const auto x = read_vector<float>("data/x.bin", elements);
    std::vector<float> quadrature(elements);

    float* dev_x = nullptr;
    float* dev_quadrature = nullptr;
    cudaMalloc(&dev_x, x.size() * sizeof(float));
    cudaMalloc(&dev_quadrature, quadrature.size() * sizeof(float));
    cudaMemcpy(dev_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kSamples + 255) / 256, kRows);
    hilbert_filter<<<grid, 256>>>(dev_x, dev_quadrature);

    cudaMemcpy(quadrature.data(), dev_quadrature, quadrature.size() * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/quadrature.bin", quadrature);
    cudaFree(dev_x);
    cudaFree(dev_quadrature);
    return 0;
}
