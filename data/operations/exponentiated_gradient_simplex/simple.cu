#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t size) {
    std::vector<T> v(size);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), size * sizeof(T));
    if (!file) {
        std::cerr << "short file: " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

const int kRows = 150;
const int kDim = 100;
const int kNumElements = kRows * kDim;

__global__ void exponentiated_step(const float* weight, const float* grad, const float* rate, float* weight_out) {
    __shared__ float buf[128];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * kDim;
    float r = rate[blockIdx.x];

    float low = INFINITY;
    for (int k = t; k < kDim; k += 128) low = fminf(low, r * grad[base + k]);
    buf[t] = low;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) buf[t] = fminf(buf[t], buf[t + s]);
        __syncthreads();
    }
    low = buf[0];
    __syncthreads();

    float sum = 0.0f;
    for (int k = t; k < kDim; k += 128) sum += weight[base + k] * expf(low - r * grad[base + k]);
    buf[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    sum = buf[0];
    for (int k = t; k < kDim; k += 128) {
        weight_out[base + k] = weight[base + k] * expf(low - r * grad[base + k]) / sum;
    }
}

int main() {
    auto hWeight = load_vector<float>("data/weight.bin", kNumElements);
    auto hGrad = load_vector<float>("data/grad.bin", kNumElements);
    auto hRate = load_vector<float>("data/rate.bin", kRows);

    float* dev_weight;
    cudaMalloc(&dev_weight, kNumElements * sizeof(float));
    float* dev_grad;
    cudaMalloc(&dev_grad, kNumElements * sizeof(float));
    float* dev_rate;
    cudaMalloc(&dev_rate, kRows * sizeof(float));
    float* dev_weight_out;
    cudaMalloc(&dev_weight_out, kNumElements * sizeof(float));
    cudaMemcpy(dev_weight, hWeight.data(), kNumElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_grad, hGrad.data(), kNumElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_rate, hRate.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);

    exponentiated_step<<<kRows, 128>>>(dev_weight, dev_grad, dev_rate, dev_weight_out);

    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::vector<float> h_weight_out(kNumElements);
    cudaMemcpy(h_weight_out.data(), dev_weight_out, kNumElements * sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/weight_out.bin", h_weight_out);
    cudaFree(dev_weight);
    cudaFree(dev_grad);
    cudaFree(dev_rate);
    cudaFree(dev_weight_out);
}
