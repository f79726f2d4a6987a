#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        const cudaError_t error = (call);                                                       \
        if (error != cudaSuccess) {                                                             \
            fprintf(stderr, "%s, line %d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(2);                                                                            \
        }                                                                                       \
    } while (0)

constexpr int kMaxBatch = 256, kMaxQueries = 4096, kMaxKeys = 1024;
constexpr int kWarpsPerBlock = 4;
constexpr unsigned kAll = 0xffffffffu;

template <int ITEMS>
__global__ void maskedSoftmax(const float* __restrict__ scores, const int32_t* __restrict__ lengths,
                              float* __restrict__ probabilities, int rows, int queries, int keys) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kWarpsPerBlock + threadIdx.x / 32;
    if (row >= rows) return;
    const int valid = lengths[row / queries];
    const size_t start = static_cast<size_t>(row) * keys;

    float item[ITEMS];
    float peak = -INFINITY;
#pragma unroll
    for (int t = 0; t < ITEMS; ++t) {
        const int key = lane + 32 * t;
        item[t] = key < valid ? scores[start + key] : -INFINITY;
        peak = fmaxf(peak, item[t]);
    }
    for (int mask = 16; mask > 0; mask /= 2) peak = fmaxf(peak, __shfl_xor_sync(kAll, peak, mask));

    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < ITEMS; ++t) {
        item[t] = lane + 32 * t < valid ? expf(item[t] - peak) : 0.0f;
        sum += item[t];
    }
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(kAll, sum, mask);

    const float factor = valid > 0 ? 1.0f / sum : 0.0f;
#pragma unroll
    for (int t = 0; t < ITEMS; ++t) {
        const int key = lane + 32 * t;
        if (key < keys) probabilities[start + key] = item[t] * factor;
    }
}

// Launches the smallest instance whose registers hold a row.
template <int ITEMS = 1>
static void launch(const float* scores, const int32_t* lengths, float* probabilities, int rows, int queries,
                   int keys) {
    if constexpr (32 * ITEMS < kMaxKeys) {
        if (keys > 32 * ITEMS) {
            launch<2 * ITEMS>(scores, lengths, probabilities, rows, queries, keys);
            return;
        }
    }
    const int blocks = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
    maskedSoftmax<ITEMS><<<blocks, 32 * kWarpsPerBlock>>>(scores, lengths, probabilities, rows, queries, keys);
    CHECK(cudaGetLastError());
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: not readable as %zu values\n", path, count);
        exit(1);
    }
    return values;
}

int main() {
    const std::vector<int32_t> sizes = readFile<int32_t>("data/sizes.bin", 3);
    const int batch = sizes[0], queries = sizes[1], keys = sizes[2];
    if (batch < 1 || batch > kMaxBatch || queries < 1 || queries > kMaxQueries || keys < 1 || keys > kMaxKeys) {
        fprintf(stderr, "data/sizes.bin: a size is not allowed\n");
        return 1;
    }
    const int rows = batch * queries;
    std::vector<float> scores = readFile<float>("data/scores.bin", static_cast<size_t>(rows) * keys);
    const std::vector<int32_t> lengths = readFile<int32_t>("data/lengths.bin", batch);
    for (int32_t length : lengths) {
        if (length < 0 || length > keys) {
            fprintf(stderr, "data/lengths.bin: %d is not in 0..%d\n", length, keys);
            return 1;
        }
    }

    const size_t bytes = scores.size() * sizeof(float);
    float *dScores, *dProbabilities;
    int32_t* dLengths;
    CHECK(cudaMalloc(&dScores, bytes));
    CHECK(cudaMalloc(&dProbabilities, bytes));
    CHECK(cudaMalloc(&dLengths, batch * sizeof(int32_t)));
    CHECK(cudaMemcpy(dScores, scores.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dLengths, lengths.data(), batch * sizeof(int32_t), cudaMemcpyHostToDevice));
    launch(dScores, dLengths, dProbabilities, rows, queries, keys);
    CHECK(cudaMemcpy(scores.data(), dProbabilities, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dScores));
    CHECK(cudaFree(dProbabilities));
    CHECK(cudaFree(dLengths));

    std::ofstream out("data/probabilities.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(scores.data()), bytes);
    out.close();
    if (!out) {
        fprintf(stderr, "data/probabilities.bin: not writable\n");
        return 1;
    }
    return 0;
}
