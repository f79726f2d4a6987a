#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void blend(const float* features, const int* index, const float* distance, float* blended, int coarse,
                      int fine, long long total) {
    long long e = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (e >= total) return;
    long long c = e / fine;
    int i = e % fine;
    float sum = 0.0f, weights = 0.0f;
    for (int s = 0; s < 3; ++s) {
        float w = 1.0f / (distance[3 * i + s] + 1e-6f);
        sum += w * features[c * coarse + index[3 * i + s]];
        weights += w;
    }
    blended[e] = sum / weights;
}

void check(cudaError_t status, const std::string& what) {
    if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

template <typename T>
T* toDevice(const std::vector<T>& values) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, values.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return pointer;
}

int main() {
    try {
        auto sizes = read<int>("data/sizes.bin", 3);
        int channels = sizes[0], coarse = sizes[1], fine = sizes[2];
        if (channels < 1 || channels > 1024 || coarse < 3 || coarse > 65536 || fine < 1 || fine > 262144) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto index = read<int>("data/index.bin", 3 * static_cast<size_t>(fine));
        for (int j : index) {
            if (j < 0 || j >= coarse) throw std::runtime_error("data/index.bin: no such coarse point");
        }
        float* features = toDevice(read<float>("data/features.bin", static_cast<size_t>(channels) * coarse));
        float* distance = toDevice(read<float>("data/distance.bin", 3 * static_cast<size_t>(fine)));
        int* indices = toDevice(index);
        std::vector<float> result(static_cast<size_t>(channels) * fine);
        float* blended = toDevice(result);
        blend<<<(result.size() + 255) / 256, 256>>>(features, indices, distance, blended, coarse, fine, result.size());
        check(cudaGetLastError(), "launch");
        check(cudaMemcpy(result.data(), blended, result.size() * sizeof(float), cudaMemcpyDeviceToHost), "download");
        cudaFree(features);
        cudaFree(distance);
        cudaFree(indices);
        cudaFree(blended);
        std::ofstream out("data/blended.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("data/blended.bin: not written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
