#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Word = unsigned long long;

static void fail(const char* what) {
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

static void cuda(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> fromFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) fail(path);
    std::fclose(file);
    return values;
}

// The mismatches at every position, then the minimum by atomicMin on distance and position together.
__global__ void scan(const uint8_t* genome, const uint8_t* probes, Word* best, int bases, int queries) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at + 32 > bases) return;
    for (int q = 0; q < queries; ++q) {
        Word wrong = 0;
        for (int k = 0; k < 32; ++k) wrong += genome[at + k] != probes[32 * q + k];
        atomicMin(&best[q], wrong << 32 | static_cast<unsigned>(at));
    }
}

int main() {
    const auto sizes = fromFile<int>("data/sizes.bin", 2);
    const int bases = sizes[0], queries = sizes[1];
    if (bases < 32 || bases > 8000000 || queries < 1 || queries > 256) fail("data/sizes.bin: out of range");
    const auto genome = fromFile<uint8_t>("data/genome.bin", bases);
    const auto probes = fromFile<uint8_t>("data/probes.bin", 32 * static_cast<size_t>(queries));
    std::vector<int> result(2 * queries);
    uint8_t* dGenome;
    cuda(cudaMalloc(&dGenome, bases));
    cuda(cudaMemcpy(dGenome, genome.data(), bases, cudaMemcpyHostToDevice));
    uint8_t* dProbes;
    Word* dBest;
    std::vector<Word> best(queries);
    cuda(cudaMalloc(&dProbes, probes.size()));
    cuda(cudaMalloc(&dBest, queries * sizeof(Word)));
    cuda(cudaMemcpy(dProbes, probes.data(), probes.size(), cudaMemcpyHostToDevice));
    cuda(cudaMemset(dBest, 0xff, queries * sizeof(Word)));
    scan<<<(bases + 127) / 128, 128>>>(dGenome, dProbes, dBest, bases, queries);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(best.data(), dBest, queries * sizeof(Word), cudaMemcpyDeviceToHost));
    for (int q = 0; q < queries; ++q) {
        result[2 * q] = static_cast<int>(best[q] & 0xffffffffu);
        result[2 * q + 1] = static_cast<int>(best[q] >> 32);
    }
    cuda(cudaFree(dProbes));
    cuda(cudaFree(dBest));
    cuda(cudaFree(dGenome));
    std::FILE* file = std::fopen("data/best.bin", "wb");
    if (!file || std::fwrite(result.data(), sizeof(int), result.size(), file) != result.size()) fail("data/best.bin");
    if (std::fclose(file) != 0) fail("data/best.bin");
    return 0;
}
