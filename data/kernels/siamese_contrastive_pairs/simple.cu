#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void pairLoss(const float* embeddings, const int* pairIndex, const uint8_t* same, float* loss, int width,
                         int pairs) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    const float* a = embeddings + (size_t)pairIndex[2 * p] * width;
    const float* b = embeddings + (size_t)pairIndex[2 * p + 1] * width;
    float squared = 0.0f;
    for (int i = 0; i < width; ++i) squared += (a[i] - b[i]) * (a[i] - b[i]);
    float gap = fmaxf(0.0f, 1.0f - sqrtf(squared));
    loss[p] = 0.5f * (same[p] ? squared : gap * gap);
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T)) || file.peek() != EOF) {
        throw std::runtime_error(path + ": wrong size");
    }
    return values;
}

template <typename T>
T* toDevice(const std::vector<T>& values) {
    T* pointer;
    check(cudaMalloc(&pointer, values.size() * sizeof(T)));
    check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

int main() try {
    auto sizes = read<int>("data/sizes.bin", 3);
    int items = sizes[0], width = sizes[1], pairs = sizes[2];
    if (items < 1 || items > 1000000 || width < 4 || width > 1024 || width % 4 != 0 || pairs < 1 || pairs > 1000000) {
        throw std::runtime_error("sizes out of range");
    }
    auto embeddings = read<float>("data/embeddings.bin", (size_t)items * width);
    auto pairIndex = read<int>("data/pair_index.bin", (size_t)pairs * 2);
    auto same = read<uint8_t>("data/same.bin", pairs);
    for (int i : pairIndex) {
        if (i < 0 || i >= items) throw std::runtime_error("pair_index out of range");
    }
    std::vector<float> loss(pairs);
    float* dLoss = toDevice(loss);
    pairLoss<<<(pairs + 127) / 128, 128>>>(toDevice(embeddings), toDevice(pairIndex), toDevice(same), dLoss, width,
                                           pairs);
    check(cudaGetLastError());
    check(cudaMemcpy(loss.data(), dLoss, pairs * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out("data/loss.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(loss.data()), pairs * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/loss.bin: cannot be written");
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
