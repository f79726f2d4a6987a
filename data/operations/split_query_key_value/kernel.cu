#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
    if (!file) {
        std::cerr << "cannot read " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void save(const std::string& path, const float* data, size_t count) {
    std::ofstream f(path, std::ios::binary);
    f.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int BATCH = 2;
constexpr int TOKENS = 20;
constexpr int HEADS = 4;
constexpr int HEAD_DIM = 24;
constexpr int PART = HEADS * HEAD_DIM;

// One block for a token and one of the three parts, read in storage order.
__global__ void split_token(const float* __restrict__ fused, const float* __restrict__ bias,
                            float* __restrict__ query, float* __restrict__ key, float* __restrict__ value) {
    const int token = blockIdx.x;
    const int which = blockIdx.y;
    const int b = token / TOKENS, t = token % TOKENS;
    float* dst = which == 0 ? query : which == 1 ? key : value;
    const float scale = which == 0 ? rsqrtf((float)HEAD_DIM) : 1.0f;
    const float* src = fused + ((size_t)token * 3 + which) * PART;
    for (int k = threadIdx.x; k < PART; k += blockDim.x) {
        const int h = k / HEAD_DIM;
        const size_t at = ((size_t)(b * HEADS + h) * TOKENS + t) * HEAD_DIM + k - h * HEAD_DIM;
        dst[at] = scale * (src[k] + bias[which * PART + k]);
    }
}

int main() {
    const size_t num_fused = (size_t)BATCH * TOKENS * 3 * HEADS * HEAD_DIM;
    const size_t num_bias = (size_t)3 * HEADS * HEAD_DIM;
    const size_t num_query = (size_t)BATCH * HEADS * TOKENS * HEAD_DIM;
    float* h_fused = new float[num_fused];
    float* h_bias = new float[num_bias];
    float* h_query = new float[num_query];
    float* h_key = new float[num_query];
    float* h_value = new float[num_query];
    load("data/fused.bin", h_fused, num_fused);
    load("data/bias.bin", h_bias, num_bias);

    float* d_fused = nullptr;
    cudaMalloc(&d_fused, num_fused * sizeof(float));
    cudaMemcpy(d_fused, h_fused, num_fused * sizeof(float), cudaMemcpyHostToDevice);
    float* d_bias = nullptr;
    cudaMalloc(&d_bias, num_bias * sizeof(float));
    cudaMemcpy(d_bias, h_bias, num_bias * sizeof(float), cudaMemcpyHostToDevice);
    float* d_query = nullptr;
    cudaMalloc(&d_query, num_query * sizeof(float));
    float* d_key = nullptr;
    cudaMalloc(&d_key, num_query * sizeof(float));
    float* d_value = nullptr;
    cudaMalloc(&d_value, num_query * sizeof(float));

    split_token<<<dim3(BATCH * TOKENS, 3), 128>>>(d_fused, d_bias, d_query, d_key, d_value);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << '\n';
        return 1;
    }
    cudaMemcpy(h_query, d_query, num_query * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_key, d_key, num_query * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_value, d_value, num_query * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/query.bin", h_query, num_query);
    save("data/key.bin", h_key, num_query);
    save("data/value.bin", h_value, num_query);

    cudaFree(d_fused);
    cudaFree(d_bias);
    cudaFree(d_query);
    cudaFree(d_key);
    cudaFree(d_value);
    delete[] h_fused;
    delete[] h_bias;
    delete[] h_query;
    delete[] h_key;
    delete[] h_value;
    return 0;
}
