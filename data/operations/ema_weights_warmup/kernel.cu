#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTensors = 10;
constexpr int kWidth = 1500;

template <typename T>
struct DevBuf {
    T* p = nullptr;
    size_t count;
    explicit DevBuf(size_t n_) : count(n_) {
        if (cudaMalloc(&p, n_ * sizeof(T)) != cudaSuccess) {
            throw std::runtime_error("cudaMalloc failed");
        }
    }
    ~DevBuf() { cudaFree(p); }
    DevBuf(const DevBuf&) = delete;
    DevBuf& operator=(const DevBuf&) = delete;
    void from_host(const std::vector<T>& v) { cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void to_host(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> readAll(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return v;
}

__global__ void average_weights_1024(const float* __restrict__ shadow, const float* __restrict__ weight,
                                     const int* __restrict__ updates, const unsigned char* __restrict__ trainable,
                                     float* __restrict__ shadow_out, float* __restrict__ distance) {
    __shared__ float warp_sum[32];
    const int tensor = blockIdx.x;
    const float* s = shadow + (size_t)tensor * kWidth;
    const float* w = weight + (size_t)tensor * kWidth;
    float* out = shadow_out + (size_t)tensor * kWidth;
    // shadow_out - weight = d * (shadow - weight)
    float d = 0.0f;
    if (trainable[tensor]) {
        const float u = (float)updates[tensor];
        d = fminf(0.999f, (u + 1.0f) / (u + 10.0f));
    }
    float sum = 0.0f;
    for (int k = threadIdx.x; k < kWidth; k += 1024) {
        const float gap = d * (s[k] - w[k]);
        out[k] = w[k] + gap;
        sum = fmaf(gap, gap, sum);
    }
    for (int h = 16; h > 0; h >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, h);
    if ((threadIdx.x & 31) == 0) warp_sum[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum[threadIdx.x];
        for (int h = 16; h > 0; h >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, h);
        if (threadIdx.x == 0) distance[tensor] = sqrtf(sum * (1.0f / kWidth));
    }
}

int main() try {
    auto host_shadow = readAll<float>("data/shadow.bin", kTensors * kWidth);
    auto host_weight = readAll<float>("data/weight.bin", kTensors * kWidth);
    std::vector<int> host_updates = readAll<int>("data/updates.bin", kTensors);
    std::vector<unsigned char> host_trainable = readAll<unsigned char>("data/trainable.bin", kTensors);
    std::vector<float> host_shadow_out(kTensors * kWidth), host_distance(kTensors);

    DevBuf<float> d_shadow(kTensors * kWidth);
    DevBuf<float> d_weight(kTensors * kWidth);
    DevBuf<int> d_updates(kTensors);
    DevBuf<unsigned char> d_trainable(kTensors);
    DevBuf<float> d_shadow_out(kTensors * kWidth);
    DevBuf<float> d_distance(kTensors);
    d_shadow.from_host(host_shadow);
    d_weight.from_host(host_weight);
    d_updates.from_host(host_updates);
    d_trainable.from_host(host_trainable);

    average_weights_1024<<<kTensors, 1024>>>(d_shadow.p, d_weight.p, d_updates.p, d_trainable.p,
            d_shadow_out.p, d_distance.p);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        throw std::runtime_error("kernel failed");
    }

    d_shadow_out.to_host(host_shadow_out);
    d_distance.to_host(host_distance);
    std::ofstream shadow_out_out("data/shadow_out.bin", std::ios::binary);
    shadow_out_out.write(reinterpret_cast<const char*>(host_shadow_out.data()),
            host_shadow_out.size() * sizeof(float));
    std::ofstream distance_out("data/distance.bin", std::ios::binary);
    distance_out.write(reinterpret_cast<const char*>(host_distance.data()), host_distance.size() * sizeof(float));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
    return 1;
}
