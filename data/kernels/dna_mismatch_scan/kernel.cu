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

constexpr int THREADS = 256;

// A, C, G, T are told apart by bits 1 and 2 of their ASCII codes.
__host__ __device__ inline Word codeOf(uint8_t letter) { return letter >> 1 & 3; }

// Each thread packs the 32 bases from its position on and compares them with all probes.
__global__ void scan(const uint8_t* __restrict__ genome, const Word* __restrict__ probes, Word* best, int bases,
                     int queries) {
    __shared__ uint8_t codes[THREADS + 31];
    __shared__ Word smallest[256];
    const int first = blockIdx.x * THREADS, at = first + threadIdx.x;
    for (int i = threadIdx.x; i < THREADS + 31; i += THREADS) {
        codes[i] = first + i < bases ? static_cast<uint8_t>(codeOf(genome[first + i])) : 0;
    }
    smallest[threadIdx.x] = ~0ull;
    __syncthreads();
    if (at + 32 <= bases) {
        Word word = 0;
        for (int k = 0; k < 32; ++k) word |= static_cast<Word>(codes[threadIdx.x + k]) << (2 * k);
        for (int q = 0; q < queries; ++q) {
            const Word differs = word ^ probes[q];
            const int wrong = __popcll((differs | differs >> 1) & 0x5555555555555555ull);
            const Word packed = static_cast<Word>(wrong) << 32 | static_cast<unsigned>(at);
            if (packed < smallest[q]) atomicMin(&smallest[q], packed);  // the first look only spares atomics
        }
    }
    __syncthreads();
    const int q = threadIdx.x;
    if (q < queries && smallest[q] != ~0ull) atomicMin(&best[q], smallest[q]);
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
    std::vector<Word> packed(queries, 0), best(queries);
    for (int q = 0; q < queries; ++q) {
        for (int k = 0; k < 32; ++k) packed[q] |= codeOf(probes[32 * q + k]) << (2 * k);
    }
    Word *dPacked, *dBest;
    cuda(cudaMalloc(&dPacked, queries * sizeof(Word)));
    cuda(cudaMalloc(&dBest, queries * sizeof(Word)));
    cuda(cudaMemcpy(dPacked, packed.data(), queries * sizeof(Word), cudaMemcpyHostToDevice));
    cuda(cudaMemset(dBest, 0xff, queries * sizeof(Word)));
    scan<<<(bases + THREADS - 1) / THREADS, THREADS>>>(dGenome, dPacked, dBest, bases, queries);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(best.data(), dBest, queries * sizeof(Word), cudaMemcpyDeviceToHost));
    for (int q = 0; q < queries; ++q) {
        result[2 * q] = static_cast<int>(best[q] & 0xffffffffu);
        result[2 * q + 1] = static_cast<int>(best[q] >> 32);
    }
    cuda(cudaFree(dPacked));
    cuda(cudaFree(dBest));
    cuda(cudaFree(dGenome));
    std::FILE* file = std::fopen("data/best.bin", "wb");
    if (!file || std::fwrite(result.data(), sizeof(int), result.size(), file) != result.size()) fail("data/best.bin");
    if (std::fclose(file) != 0) fail("data/best.bin");
    return 0;
}
