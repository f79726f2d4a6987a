#include <cuda_runtime.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

__device__ float similarity(const float* a, const float* b, int width) {
    float sum = 0;
    for (int d = 0; d < width; ++d) sum += a[d] * b[d];
    return sum / 0.125f;
}

// Two passes over the bank: the largest similarity, then the sum of the shifted exponentials.
__global__ void infoNce(const float* query, const float* positive, const float* negatives, float* loss, int queries,
                        int bank, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const float* q = query + (size_t)i * width;
    float own = similarity(q, positive + (size_t)i * width, width);
    float top = own;
    for (int j = 0; j < bank; ++j) top = fmaxf(top, similarity(q, negatives + (size_t)j * width, width));
    float sum = expf(own - top);
    for (int j = 0; j < bank; ++j) sum += expf(similarity(q, negatives + (size_t)j * width, width) - top);
    loss[i] = logf(sum) + top - own;
}

void check(cudaError_t e) {
    if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)v.data(), count * sizeof(T)) || in.peek() != EOF) throw std::runtime_error(path);
    return v;
}

float* toDevice(const std::vector<float>& v) {
    float* p;
    check(cudaMalloc(&p, v.size() * sizeof(float)));
    check(cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice));
    return p;
}

int main() {
    try {
        auto sizes = load<int>("data/sizes.bin", 3);
        int queries = sizes[0], bank = sizes[1], width = sizes[2];
        if (queries < 1 || queries > 65536 || bank < 1 || bank > 65536 || width < 1 || width > 128) {
            throw std::runtime_error("sizes");
        }
        float* query = toDevice(load<float>("data/query.bin", (size_t)queries * width));
        float* positive = toDevice(load<float>("data/positive.bin", (size_t)queries * width));
        float* negatives = toDevice(load<float>("data/negatives.bin", (size_t)bank * width));
        std::vector<float> loss(queries);
        float* dLoss = toDevice(loss);
        infoNce<<<(queries + 63) / 64, 64>>>(query, positive, negatives, dLoss, queries, bank, width);
        check(cudaGetLastError());
        check(cudaMemcpy(loss.data(), dLoss, queries * sizeof(float), cudaMemcpyDeviceToHost));
        std::ofstream out("data/loss.bin", std::ios::binary);
        if (!out.write((char*)loss.data(), queries * sizeof(float)).flush()) throw std::runtime_error("data/loss.bin");
    } catch (std::exception& e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
    return 0;
}
