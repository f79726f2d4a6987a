#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void loadData(const std::string& path, T* dst, size_t count) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(dst), count * sizeof(T))) {
        std::cerr << "could not load " << path << '\n';
        std::exit(1);
    }
}

template <typename T>
void saveData(const std::string& path, const T* src, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(src), count * sizeof(T));
}
//@given

constexpr int BATCH = 3;
constexpr int LENGTH = 40;
constexpr int WIDTH = 96;

__global__ void embed(const int* ids, const int* segment, const float* token_table, const float* segment_table,
                      float* embedding) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * LENGTH * WIDTH) return;
    int j = i % WIDTH;
    int place = i / WIDTH;
    int id = ids[place];
    if (id == 0) {
        embedding[i] = 0.0f;
        return;
    }
    int t = place % LENGTH;
    float s = (t % 64) / 64.0f + (float)j / WIDTH;
    s -= floorf(s);
    float code = fabsf(2.0f * s - 1.0f) - 0.5f;
    embedding[i] = token_table[id * WIDTH + j] + segment_table[segment[place] * WIDTH + j] + code;
}

int main() {
    const int num_ids = BATCH * LENGTH;
    const int n_token_table = 3000 * WIDTH;
    const int count_segment_table = 2 * WIDTH;
    const int n_embedding = BATCH * LENGTH * WIDTH;
    int* h_ids = new int[num_ids];
    int* h_segment = new int[num_ids];
    float* h_token_table = new float[n_token_table];
    float* h_segment_table = new float[count_segment_table];
    float* h_embedding = new float[n_embedding];
    loadData("data/ids.bin", h_ids, num_ids);
    loadData("data/segment.bin", h_segment, num_ids);
    loadData("data/token_table.bin", h_token_table, n_token_table);
    loadData("data/segment_table.bin", h_segment_table, count_segment_table);

    int* d_ids = nullptr;
    int* d_segment = nullptr;
    float* d_token_table = nullptr;
    float* d_segment_table = nullptr;
    float* d_embedding = nullptr;
    cudaMalloc(&d_ids, num_ids * sizeof(int));
    cudaMalloc(&d_segment, num_ids * sizeof(int));
    cudaMalloc((void**)&d_token_table, n_token_table * sizeof(float));
    cudaMalloc((void**)&d_segment_table, count_segment_table * sizeof(float));
    cudaMalloc((void**)&d_embedding, n_embedding * sizeof(float));
    cudaMemcpy(d_ids, h_ids, num_ids * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_segment, h_segment, num_ids * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_token_table, h_token_table, n_token_table * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_segment_table, h_segment_table, count_segment_table * sizeof(float), cudaMemcpyHostToDevice);

    int total = BATCH * LENGTH * WIDTH;
    embed<<<(total + 255) / 256, 256>>>(d_ids, d_segment, d_token_table, d_segment_table, d_embedding);

    cudaMemcpy(h_embedding, d_embedding, n_embedding * sizeof(float), cudaMemcpyDeviceToHost);
    saveData("data/embedding.bin", h_embedding, n_embedding);

    cudaFree(d_ids);
    cudaFree(d_segment);
    cudaFree(d_token_table);
    cudaFree(d_segment_table);
    cudaFree(d_embedding);
    delete[] h_ids;
    delete[] h_segment;
    delete[] h_token_table;
    delete[] h_segment_table;
    delete[] h_embedding;
    return 0;
}
