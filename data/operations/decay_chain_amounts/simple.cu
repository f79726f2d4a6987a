#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kSamples = 300;
constexpr int kMoments = 50;

struct DeviceBuffer {
    float* data = nullptr;
    explicit DeviceBuffer(size_t n) {
        if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~DeviceBuffer() { cudaFree(data); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

std::vector<float> loadFile(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float))) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

__global__ void decay_chain(const float* amount, const float* constant, const float* moment,
                            float* daughter, float* activity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kSamples * kMoments) return;
    int s = i / kMoments;
    float t = moment[i % kMoments];
    float a = amount[2 * s], b = amount[2 * s + 1];
    float p = constant[2 * s], q = constant[2 * s + 1];
    float left_a = expf(-p * t);
    float left_b = expf(-q * t);
    float fed;
    if (p == q) fed = t * left_a;
    else fed = (left_a - left_b) / (q - p);
    float now = b * left_b + a * p * fed;
    daughter[i] = now;
    activity[i] = p * a * left_a + q * now;
}

int main() {
    std::vector<float> h_amount = loadFile("data/amount.bin", kSamples * 2);
    std::vector<float> h_constant = loadFile("data/constant.bin", kSamples * 2);
    std::vector<float> h_moment = loadFile("data/moment.bin", kMoments);
    std::vector<float> h_daughter(kSamples * kMoments);
    std::vector<float> h_activity(kSamples * kMoments);

    DeviceBuffer amount(kSamples * 2);
    DeviceBuffer constant(kSamples * 2);
    DeviceBuffer moment(kMoments);
    DeviceBuffer daughter(kSamples * kMoments);
    DeviceBuffer activity(kSamples * kMoments);
    cudaMemcpy(amount.data, h_amount.data(), kSamples * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(constant.data, h_constant.data(), kSamples * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(moment.data, h_moment.data(), kMoments * sizeof(float), cudaMemcpyHostToDevice);

    int n = kSamples * kMoments;
    decay_chain<<<(n + 255) / 256, 256>>>(amount.data, constant.data, moment.data, daughter.data,
            activity.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }
    cudaMemcpy(h_daughter.data(), daughter.data, kSamples * kMoments * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_activity.data(), activity.data, kSamples * kMoments * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/daughter.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(h_daughter.data()),
                    kSamples * kMoments * sizeof(float));
    std::ofstream("data/activity.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(h_activity.data()),
                    kSamples * kMoments * sizeof(float));
    return 0;
}
