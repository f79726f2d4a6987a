#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;
constexpr int kPlanes = 8;  // counters up to 255
constexpr float kStep = 1.0f / 256;

__global__ void countVotes(const uint32_t* __restrict__ signs, uint32_t* __restrict__ vote, uint32_t* __restrict__ tie,
                           int workers, int words) {
    const int j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= words) return;
    uint32_t plane[kPlanes] = {};
    for (int k = 0; k < workers; ++k) {
        uint32_t carry = signs[static_cast<size_t>(k) * words + j];
#pragma unroll
        for (int p = 0; p < kPlanes; ++p) {
            const uint32_t sum = plane[p] ^ carry;
            carry &= plane[p];
            plane[p] = sum;
        }
    }
    const int half = workers / 2;  // 2 * ones > workers is the same as ones > half
    uint32_t above = 0, equal = 0xffffffffu;
#pragma unroll
    for (int p = kPlanes - 1; p >= 0; --p) {
        if (half >> p & 1) {
            equal &= plane[p];
        } else {
            above |= equal & plane[p];
            equal &= ~plane[p];
        }
    }
    vote[j] = above;
    tie[j] = workers % 2 == 0 ? equal : 0u;
}

__global__ void moveWeights(const uint32_t* __restrict__ vote, const uint32_t* __restrict__ tie, float* weights,
                            int count) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const int word = i / 32, bit = i % 32;
    if (tie[word] >> bit & 1) return;
    weights[i] += vote[word] >> bit & 1 ? kStep : -kStep;
}

static void die(const char* reason) {
    fprintf(stderr, "%s\n", reason);
    exit(EXIT_FAILURE);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

template <typename T>
static void readFile(const char* path, std::vector<T>& values) {
    FILE* file = fopen(path, "rb");
    if (!file) die(path);
    if (fread(values.data(), sizeof(T), values.size(), file) != values.size() || fgetc(file) != EOF) die(path);
    fclose(file);
}

template <typename T>
static void writeFile(const char* path, const std::vector<T>& values) {
    FILE* file = fopen(path, "wb");
    if (!file) die(path);
    if (fwrite(values.data(), sizeof(T), values.size(), file) != values.size() || fclose(file) != 0) die(path);
}

int main() {
    std::vector<int32_t> sizes(2);
    readFile("data/sizes.bin", sizes);
    const int workers = sizes[0], words = sizes[1];
    if (workers < 1 || workers > 255 || words < 1 || words > 500000) die("data/sizes.bin: out of range");
    const int count = 32 * words;
    std::vector<uint32_t> signs(static_cast<size_t>(workers) * words), vote(words);
    std::vector<float> weights(count);
    readFile("data/signs.bin", signs);
    readFile("data/weights.bin", weights);

    uint32_t *dSigns, *dVote, *dTie;
    float* dWeights;
    check(cudaMalloc(&dSigns, signs.size() * sizeof(uint32_t)));
    check(cudaMalloc(&dVote, words * sizeof(uint32_t)));
    check(cudaMalloc(&dTie, words * sizeof(uint32_t)));
    check(cudaMalloc(&dWeights, count * sizeof(float)));
    check(cudaMemcpy(dSigns, signs.data(), signs.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dWeights, weights.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    countVotes<<<(words + kThreads - 1) / kThreads, kThreads>>>(dSigns, dVote, dTie, workers, words);
    check(cudaGetLastError());
    moveWeights<<<(count + kThreads - 1) / kThreads, kThreads>>>(dVote, dTie, dWeights, count);
    check(cudaGetLastError());
    check(cudaMemcpy(vote.data(), dVote, words * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    check(cudaMemcpy(weights.data(), dWeights, count * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(dSigns));
    check(cudaFree(dVote));
    check(cudaFree(dTie));
    check(cudaFree(dWeights));
    writeFile("data/vote.bin", vote);
    writeFile("data/new_weights.bin", weights);
    return EXIT_SUCCESS;
}
