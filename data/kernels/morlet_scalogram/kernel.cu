#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSamples = 262144, kMaxScales = 256, kMaxScale = 128;
constexpr int kThreads = 256;

__global__ void scalogram(const float* __restrict__ x, const int* __restrict__ scale, float* __restrict__ magnitude,
                          int n) {
    extern __shared__ float2 wavelet[];
    const int s = scale[blockIdx.y], reach = 4 * s;
    float* window = reinterpret_cast<float*>(wavelet + reach + 1);
    const float norm = 0.75112554f * rsqrtf(static_cast<float>(s));  // pi^(-1/4) / sqrt(s)
    for (int k = threadIdx.x; k <= reach; k += kThreads) {
        const float u = static_cast<float>(k) / s;
        float sine, cosine;
        sincosf(6.0f * u, &sine, &cosine);
        const float bell = norm * expf(-0.5f * u * u);
        wavelet[k] = make_float2(bell * cosine, bell * sine);
    }
    const int first = static_cast<int>(blockIdx.x) * kThreads - reach;
    for (int k = threadIdx.x; k < kThreads + 2 * reach; k += kThreads) {
        const int t = first + k;
        window[k] = t >= 0 && t < n ? x[t] : 0.0f;
    }
    __syncthreads();

    const float* center = window + threadIdx.x + reach;
    float real = wavelet[0].x * center[0], imaginary = 0.0f;
    for (int k = 1; k <= reach; ++k) {
        real += wavelet[k].x * (center[k] + center[-k]);
        imaginary += wavelet[k].y * (center[k] - center[-k]);
    }
    const int t = blockIdx.x * kThreads + threadIdx.x;
    if (t < n) magnitude[static_cast<size_t>(blockIdx.y) * n + t] = hypotf(real, imaginary);
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": not " + std::to_string(count) + " values");
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int n = sizes[0], scales = sizes[1];
        if (n < 1 || n > kMaxSamples || scales < 1 || scales > kMaxScales) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto x = readFile<float>("data/x.bin", n);
        const auto scale = readFile<int>("data/scale.bin", scales);
        const int smallest = *std::min_element(scale.begin(), scale.end());
        const int largest = *std::max_element(scale.begin(), scale.end());
        if (smallest < 1 || largest > kMaxScale) throw std::runtime_error("data/scale.bin: a scale is out of range");

        float *dX, *dMagnitude;
        int* dScale;
        std::vector<float> magnitude(static_cast<size_t>(scales) * n);
        check(cudaMalloc(&dX, x.size() * sizeof(float)));
        check(cudaMalloc(&dScale, scale.size() * sizeof(int)));
        check(cudaMalloc(&dMagnitude, magnitude.size() * sizeof(float)));
        check(cudaMemcpy(dX, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dScale, scale.data(), scale.size() * sizeof(int), cudaMemcpyHostToDevice));
        const size_t sharedBytes = (4 * largest + 1) * sizeof(float2) + (kThreads + 8 * largest) * sizeof(float);
        scalogram<<<dim3((n + kThreads - 1) / kThreads, scales), kThreads, sharedBytes>>>(dX, dScale, dMagnitude, n);
        check(cudaGetLastError());
        check(cudaMemcpy(magnitude.data(), dMagnitude, magnitude.size() * sizeof(float), cudaMemcpyDeviceToHost));
        check(cudaFree(dX));
        check(cudaFree(dScale));
        check(cudaFree(dMagnitude));

        std::ofstream out("data/magnitude.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(magnitude.data()), magnitude.size() * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("data/magnitude.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
