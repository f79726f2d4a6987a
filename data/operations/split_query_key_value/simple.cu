#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 2;
constexpr int kTokens = 20;
constexpr int kHeads = 4;
constexpr int kHeadDim = 24;
constexpr int kTotal = kBatch * kHeads * kTokens * kHeadDim;
const size_t fused_len = (size_t)kBatch * kTokens * 3 * kHeads * kHeadDim;
const size_t bias_len = (size_t)3 * kHeads * kHeadDim;
const size_t query_len = (size_t)kBatch * kHeads * kTokens * kHeadDim;

__global__ void split(const float* fused, const float* bias, float* query, float* key, float* value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kTotal) return;
    int d = i % kHeadDim;
    int t = i / kHeadDim % kTokens;
    int h = i / (kHeadDim * kTokens) % kHeads;
    int b = i / (kHeadDim * kTokens * kHeads);
    int part = kHeads * kHeadDim;
    int inner = h * kHeadDim + d;
    const float* src = fused + (size_t)(b * kTokens + t) * 3 * part + inner;
    query[i] = (src[0] + bias[inner]) / sqrtf((float)kHeadDim);
    key[i] = src[part] + bias[part + inner];
    value[i] = src[2 * part] + bias[2 * part + inner];
}

void launch(const float* dev_fused, const float* dev_bias, float* dev_query, float* dev_key,
            float* dev_value) {
    split<<<(kTotal + 255) / 256, 256>>>(dev_fused, dev_bias, dev_query, dev_key, dev_value);
}

int main() {
    std::vector<float> h_fused(fused_len);
    std::vector<float> h_bias(bias_len);
    std::vector<float> h_query(query_len);
    std::vector<float> h_key(query_len);
    std::vector<float> h_value(query_len);
    std::ifstream fused_stream("data/fused.bin", std::ios::binary);
    if (!fused_stream.read((char*)h_fused.data(), fused_len * sizeof(float))) {
        std::cerr << "missing data/fused.bin\n";
        return 1;
    }
    std::ifstream bias_stream("data/bias.bin", std::ios::binary);
    if (!bias_stream.read((char*)h_bias.data(), bias_len * sizeof(float))) {
        std::cerr << "missing data/bias.bin\n";
        return 1;
    }

    float* dev_fused = nullptr;
    cudaMalloc(&dev_fused, fused_len * sizeof(float));
    cudaMemcpy(dev_fused, h_fused.data(), fused_len * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_bias = nullptr;
    cudaMalloc(&dev_bias, bias_len * sizeof(float));
    cudaMemcpy(dev_bias, h_bias.data(), bias_len * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_query = nullptr;
    cudaMalloc(&dev_query, query_len * sizeof(float));
    float* dev_key = nullptr;
    cudaMalloc(&dev_key, query_len * sizeof(float));
    float* dev_value = nullptr;
    cudaMalloc(&dev_value, query_len * sizeof(float));

    launch(dev_fused, dev_bias, dev_query, dev_key, dev_value);
    cudaError_t rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << '\n';
        return 1;
    }
    cudaMemcpy(h_query.data(), dev_query, query_len * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_key.data(), dev_key, query_len * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_value.data(), dev_value, query_len * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/query.bin", std::ios::binary).write((char*)h_query.data(), query_len * sizeof(float));
    std::ofstream("data/key.bin", std::ios::binary).write((char*)h_key.data(), query_len * sizeof(float));
    std::ofstream("data/value.bin", std::ios::binary).write((char*)h_value.data(), query_len * sizeof(float));
    cudaFree(dev_fused);
    cudaFree(dev_bias);
    cudaFree(dev_query);
    cudaFree(dev_key);
    cudaFree(dev_value);
    return 0;
}
