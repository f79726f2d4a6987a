#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kBatch = 6;
constexpr int kSteps = 40;
constexpr int kFeatures = 96;

__global__ void masked_mean(const float* x, const int* lengths, const unsigned char* skip, float* mean) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (f >= kFeatures) return;
    float sum = 0.0f;
    int used = 0;
    for (int t = 0; t < lengths[b]; ++t) {
        if (skip[b * kSteps + t] != 0) continue;
        sum += x[((size_t)b * kSteps + t) * kFeatures + f];
        ++used;
    }
    mean[b * kFeatures + f] = used > 0 ? sum / used : 0.0f;
}

int main() {
    constexpr size_t xCount = (size_t)kBatch * kSteps * kFeatures;
    constexpr size_t skipCount = (size_t)kBatch * kSteps;
    constexpr size_t meanSize = (size_t)kBatch * kFeatures;
    const auto host_x = read_vector<float>("data/x.bin", xCount);
    const auto host_lengths = read_vector<int>("data/lengths.bin", kBatch);
    const auto host_skip = read_vector<unsigned char>("data/skip.bin", skipCount);

    float* dX = nullptr;
    float* dMean;
    int* dLengths = nullptr;
    unsigned char* dSkip;
    cudaMalloc(&dX, xCount * sizeof(float));
    cudaMalloc(&dLengths, kBatch * sizeof(int));
    cudaMalloc(&dSkip, skipCount * sizeof(unsigned char));
    cudaMalloc(&dMean, meanSize * sizeof(float));
    cudaMemcpy(dX, host_x.data(), xCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dLengths, host_lengths.data(), kBatch * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dSkip, host_skip.data(), skipCount * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 threads(64);
    dim3 blocks((kFeatures + 64 - 1) / 64, kBatch);
    masked_mean<<<blocks, threads>>>(dX, dLengths, dSkip, dMean);
    if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    std::vector<float> host_mean(meanSize);
    cudaMemcpy(host_mean.data(), dMean, meanSize * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/mean.bin", host_mean);
    cudaFree(dX);
    cudaFree(dLengths);
    cudaFree(dSkip);
    cudaFree(dMean);
    return 0;
}
