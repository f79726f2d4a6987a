#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> readVector(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void writeVector(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kRows = 24;
constexpr int kWidth = 300;

const int THREADS = 256;

__device__ float block_sum(float v, float* buf) {
    int t = threadIdx.x;
    __syncthreads();
    buf[t] = v;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    return buf[0];
}

__global__ void backward_rows(const float* x, const float* gamma, const float* dy, float* dx) {
    __shared__ float buf[THREADS];
    const size_t base = (size_t)blockIdx.x * kWidth;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < kWidth; j += THREADS) sum += x[base + j];
    float mean = block_sum(sum, buf) / kWidth;
    float sq = 0.0f, sg = 0.0f, sgd = 0.0f;
    for (int j = threadIdx.x; j < kWidth; j += THREADS) {
        float d = x[base + j] - mean;
        float g = gamma[j] * dy[base + j];
        sq += d * d;
        sg += g;
        sgd += g * d;
    }
    float s = 1.0f / sqrtf(block_sum(sq, buf) / kWidth + 1e-5f);
    float a = block_sum(sg, buf) / kWidth;
    float b = block_sum(sgd, buf) * s / kWidth;
    for (int j = threadIdx.x; j < kWidth; j += THREADS) {
        float h = (x[base + j] - mean) * s;
        dx[base + j] = s * (gamma[j] * dy[base + j] - a - h * b);
    }
}

int main() {
    constexpr size_t n_x = size_t(kRows) * kWidth;
    const auto h_x = readVector<float>("data/x.bin", n_x);
    const auto h_gamma = readVector<float>("data/gamma.bin", kWidth);
    const auto h_dy = readVector<float>("data/dy.bin", n_x);
    std::vector<float> h_dx(n_x);

    float* d_x = nullptr;
    float* d_gamma = nullptr;
    float* d_dy = nullptr;
    float* d_dx = nullptr;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_gamma, kWidth * sizeof(float));
    cudaMalloc(&d_dy, n_x * sizeof(float));
    cudaMalloc(&d_dx, n_x * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), h_x.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gamma, h_gamma.data(), h_gamma.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_dy, h_dy.data(), h_dy.size() * sizeof(float), cudaMemcpyHostToDevice);

    backward_rows<<<kRows, THREADS>>>(d_x, d_gamma, d_dy, d_dx);
    if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(h_dx.data(), d_dx, h_dx.size() * sizeof(float), cudaMemcpyDeviceToHost);
    writeVector("data/dx.bin", h_dx);
    cudaFree(d_x);
    cudaFree(d_gamma);
    cudaFree(d_dy);
    cudaFree(d_dx);
    return 0;
}
