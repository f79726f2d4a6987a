#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kVocab = 200;
constexpr int kDim = 32;
constexpr int kTokens = 900;
constexpr int kBags = 70;

inline void check(cudaError_t err, const char* where) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(err));
        exit(1);
    }
}

template <typename T>
bool readFile(const char* path, std::vector<T>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return got == v.size();
}

template <typename T>
static bool writeFile(const char* path, const std::vector<T>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(T), v.size(), f);
    fclose(f);
    return put == v.size();
}

__global__ void pool_bags(const float* table, const int* ids, const float* weights, const int* offsets,
                          float* pooled) {
    int b = blockIdx.x;
    for (int d = threadIdx.x; d < kDim; d += blockDim.x) {
        float sum = 0.0f, mass = 0.0f;
        for (int t = offsets[b]; t < offsets[b + 1]; t++) {
            if (ids[t] == 0) continue;
            sum += weights[t] * table[(size_t)ids[t] * kDim + d];
            mass += weights[t];
        }
        pooled[(size_t)b * kDim + d] = mass > 0.0f ? sum / mass : 0.0f;
    }
}

int main() {
    const size_t table_count = size_t(kVocab) * kDim;
    const size_t offsets_count = kBags + 1;
    const size_t pooled_count = size_t(kBags) * kDim;
    std::vector<float> h_table(table_count);
    std::vector<int> h_ids(kTokens);
    std::vector<float> h_weights(kTokens);
    std::vector<int> h_offsets(offsets_count);
    std::vector<float> h_pooled(pooled_count);
    if (!readFile("data/table.bin", h_table) ||
        !readFile("data/ids.bin", h_ids) ||
        !readFile("data/weights.bin", h_weights) ||
        !readFile("data/offsets.bin", h_offsets)) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    float* d_table = nullptr;
    check(cudaMalloc(&d_table, table_count * sizeof(float)), "malloc d_table");
    check(cudaMemcpy(d_table, h_table.data(), table_count * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_table");
    int* d_ids = nullptr;
    check(cudaMalloc(&d_ids, kTokens * sizeof(int)), "malloc d_ids");
    check(cudaMemcpy(d_ids, h_ids.data(), kTokens * sizeof(int), cudaMemcpyHostToDevice), "copy d_ids");
    float* d_weights = nullptr;
    check(cudaMalloc(&d_weights, kTokens * sizeof(float)), "malloc d_weights");
    check(cudaMemcpy(d_weights, h_weights.data(), kTokens * sizeof(float), cudaMemcpyHostToDevice),
            "copy d_weights");
    int* d_offsets = nullptr;
    check(cudaMalloc(&d_offsets, offsets_count * sizeof(int)), "malloc d_offsets");
    check(cudaMemcpy(d_offsets, h_offsets.data(), offsets_count * sizeof(int), cudaMemcpyHostToDevice),
            "copy d_offsets");
    float* d_pooled = nullptr;
    check(cudaMalloc(&d_pooled, pooled_count * sizeof(float)), "malloc d_pooled");

    pool_bags<<<kBags, 128>>>(d_table, d_ids, d_weights, d_offsets, d_pooled);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(h_pooled.data(), d_pooled, pooled_count * sizeof(float), cudaMemcpyDeviceToHost),
            "copy h_pooled");

    if (!writeFile("data/pooled.bin", h_pooled)) return 1;
    cudaFree(d_table);
    cudaFree(d_ids);
    cudaFree(d_weights);
    cudaFree(d_offsets);
    cudaFree(d_pooled);
    return 0;
}
