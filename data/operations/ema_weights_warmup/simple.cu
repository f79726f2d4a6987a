#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t size) {
    std::vector<T> v(size);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(v.data()), size * sizeof(T));
    if (!file) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

const int kTensors = 10;
const int kWidth = 1500;
const int kTotal = kTensors * kWidth;

__global__ void average_weights(const float* shadow, const float* weight, const int* updates,
                                const unsigned char* trainable, float* shadow_out, float* distance) {
    __shared__ float sums[256];
    int tensor = blockIdx.x, t = threadIdx.x;
    float u = (float)updates[tensor];
    float d = trainable[tensor] ? fminf(0.999f, (1.0f + u) / (10.0f + u)) : 0.0f;
    float sum = 0.0f;
    for (int k = t; k < kWidth; k += 256) {
        size_t i = (size_t)tensor * kWidth + k;
        float s = d * shadow[i] + (1.0f - d) * weight[i];
        shadow_out[i] = s;
        sum += (s - weight[i]) * (s - weight[i]);
    }
    sums[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) distance[tensor] = sqrtf(sums[0] / kWidth);
}

int main() {
    const auto hShadow = load_file<float>("data/shadow.bin", kTotal);
    const auto hWeight = load_file<float>("data/weight.bin", kTotal);
    const auto hUpdates = load_file<int>("data/updates.bin", kTensors);
    const auto hTrainable = load_file<unsigned char>("data/trainable.bin", kTensors);

    float* d_shadow = nullptr;
    float* d_weight = nullptr;
    int* d_updates = nullptr;
    unsigned char* d_trainable = nullptr;
    float* d_shadow_out = nullptr;
    float* d_distance = nullptr;
    cudaMalloc(&d_shadow, kTotal * sizeof(float));
    cudaMalloc(&d_weight, kTotal * sizeof(float));
    cudaMalloc(&d_updates, kTensors * sizeof(int));
    cudaMalloc(&d_trainable, kTensors * sizeof(unsigned char));
    cudaMalloc(&d_shadow_out, kTotal * sizeof(float));
    cudaMalloc(&d_distance, kTensors * sizeof(float));
    cudaMemcpy(d_shadow, hShadow.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, hWeight.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_updates, hUpdates.data(), kTensors * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_trainable, hTrainable.data(), kTensors * sizeof(unsigned char), cudaMemcpyHostToDevice);

    average_weights<<<kTensors, 256>>>(d_shadow, d_weight, d_updates, d_trainable, d_shadow_out, d_distance);

    if (auto rc = cudaDeviceSynchronize(); rc != cudaSuccess) {
        std::cerr << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    std::vector<float> h_shadow_out(kTotal), hDistance(kTensors);
    cudaMemcpy(h_shadow_out.data(), d_shadow_out, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(hDistance.data(), d_distance, kTensors * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/shadow_out.bin", h_shadow_out);
    store_file("data/distance.bin", hDistance);

    cudaFree(d_shadow);
    cudaFree(d_weight);
    cudaFree(d_updates);
    cudaFree(d_trainable);
    cudaFree(d_shadow_out);
    cudaFree(d_distance);
}
