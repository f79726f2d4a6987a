#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t n) {
    std::vector<T> data(n);
    std::ifstream stream(path, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(data.data()), n * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kBatch = 2;
constexpr int kChannels = 3;
constexpr int kGridY = 5;
constexpr int kGridX = 6;
constexpr int kPatch = 8;
constexpr int kWidth = kGridX * kPatch;
constexpr int kHeight = kGridY * kPatch;
constexpr int kLength = kChannels * kPatch * kPatch;
constexpr int kTokens = kGridY * kGridX + 1;

// A block reads one image row in order; consecutive threads also write runs of kPatch neighbors.
__global__ void scatter_rows(const float* __restrict__ image, float* __restrict__ tokens) {
    const int y = blockIdx.x, c = blockIdx.y, b = blockIdx.z;
    const float* row = image + ((size_t)(b * kChannels + c) * kHeight + y) * kWidth;
    const int inner = (c * kPatch + y % kPatch) * kPatch;
    float* dst = tokens + (size_t)(b * kTokens + 1 + y / kPatch * kGridX) * kLength + inner;
    for (int x = threadIdx.x; x < kWidth; x += blockDim.x) dst[x / kPatch * kLength + x % kPatch] = row[x];
}

__global__ void put_class_token(const float* __restrict__ class_token, float* __restrict__ tokens) {
    float* dst = tokens + (size_t)blockIdx.x * kTokens * kLength;
    for (int k = threadIdx.x; k < kLength; k += blockDim.x) dst[k] = class_token[k];
}

int main() {
    constexpr size_t image_size = (size_t)kBatch * kChannels * (kGridY * kPatch) * (kGridX * kPatch);
    constexpr size_t class_token_size = kChannels * kPatch * kPatch;
    constexpr size_t tokens_size = (size_t)kBatch * (kGridY * kGridX + 1) * (kChannels * kPatch * kPatch);
    const auto image = from_file<float>("data/image.bin", image_size);
    auto class_token = from_file<float>("data/class_token.bin", class_token_size);
    std::vector<float> tokens(tokens_size);

    float* d_image = nullptr;
    cudaMalloc(&d_image, image_size * sizeof(float));
    cudaMemcpy(d_image, image.data(), image_size * sizeof(float), cudaMemcpyHostToDevice);
    float* d_class_token = nullptr;
    cudaMalloc(&d_class_token, class_token_size * sizeof(float));
    cudaMemcpy(d_class_token, class_token.data(), class_token_size * sizeof(float), cudaMemcpyHostToDevice);
    float* d_tokens = nullptr;
    cudaMalloc(&d_tokens, tokens_size * sizeof(float));

    scatter_rows<<<dim3(kHeight, kChannels, kBatch), 128>>>(d_image, d_tokens);
    put_class_token<<<kBatch, 128>>>(d_class_token, d_tokens);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(tokens.data(), d_tokens, tokens_size * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/tokens.bin", tokens);

    cudaFree(d_image);
    cudaFree(d_class_token);
    cudaFree(d_tokens);
    return 0;
}
