#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load_array(const std::string& filename, void* values, size_t bytes) {
    std::ifstream file(filename, std::ios::binary);
    file.read(reinterpret_cast<char*>(values), bytes);
    if (!file) {
        std::cerr << "short or missing file " << filename << "\n";
        exit(1);
    }
}

void save_array(const std::string& filename, const void* values, size_t bytes) {
    std::ofstream stream(filename, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(values), bytes);
}
//@given

constexpr int kVocab = 200;
constexpr int kWidth = 64;
constexpr int kBatch = 4;
constexpr int kSteps = 100;

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void embed(const float* table, const int* tokens, float* hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kBatch * kSteps * kWidth) return;
    int d = i % kWidth;
    int bt = i / kWidth;
    int t = bt % kSteps;
    float w = powf(10000.0f, -(float)(d - d % 2) / kWidth);
    float p = d % 2 == 0 ? sinf(t * w) : cosf(t * w);
    hidden[i] = sqrtf((float)kWidth) * table[(size_t)tokens[bt] * kWidth + d] + p;
}

int main() {
    const int table_count = kVocab * kWidth;
    const int tokens_count = kBatch * kSteps;
    const int hidden_count = kBatch * kSteps * kWidth;
    float* host_table = new float[table_count];
    int* host_tokens = new int[tokens_count];
    float* host_hidden = new float[hidden_count];
    load_array("data/table.bin", host_table, table_count * sizeof(float));
    load_array("data/tokens.bin", host_tokens, tokens_count * sizeof(int));

    float* d_table;
    int* d_tokens;
    float* d_hidden;
    cudaMalloc(&d_table, table_count * sizeof(float));
    cudaMalloc(&d_tokens, tokens_count * sizeof(int));
    cudaMalloc(&d_hidden, hidden_count * sizeof(float));
    cudaMemcpy(d_table, host_table, table_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_tokens, host_tokens, tokens_count * sizeof(int), cudaMemcpyHostToDevice);

    embed<<<DIV_UP(kBatch * kSteps * kWidth, 256), 256>>>(d_table, d_tokens, d_hidden);

    cudaMemcpy(host_hidden, d_hidden, hidden_count * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/hidden.bin", host_hidden, hidden_count * sizeof(float));

    cudaFree(d_table);
    cudaFree(d_tokens);
    cudaFree(d_hidden);
    delete[] host_table;
    delete[] host_tokens;
    delete[] host_hidden;
    return 0;
}
