#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int QUERIES = 24;
constexpr int CODES = 300;
constexpr int WORDS = 4;
constexpr int TILE = 16;
constexpr int LANES = 64;

static inline void check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool spill(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

// A block keeps TILE queries in shared memory; each thread holds one stored code and meets all of them.
__global__ void hamming_tiles(const uint32_t* __restrict__ queries, const uint32_t* __restrict__ base,
                              int* __restrict__ distance) {
    __shared__ uint32_t tile[TILE * WORDS];
    const int first = blockIdx.y * TILE;
    const int rows = min(TILE, QUERIES - first);
    for (int i = threadIdx.x; i < rows * WORDS; i += LANES) tile[i] = queries[first * WORDS + i];
    __syncthreads();
    const int c = blockIdx.x * LANES + threadIdx.x;
    if (c >= CODES) return;
    uint32_t mine[WORDS];
    for (int w = 0; w < WORDS; ++w) mine[w] = base[(size_t)c * WORDS + w];
    for (int r = 0; r < rows; ++r) {
        int bits = 0;
        for (int w = 0; w < WORDS; ++w) bits += __popc(mine[w] ^ tile[r * WORDS + w]);
        distance[(size_t)(first + r) * CODES + c] = bits;
    }
}

int main() {
    const size_t n_query_bits = QUERIES * WORDS;
    const size_t n_base_bits = CODES * WORDS;
    const size_t n_distance = (size_t)QUERIES * CODES;
    std::vector<uint32_t> query_bits(n_query_bits);
    std::vector<uint32_t> base_bits(n_base_bits);
    std::vector<int> distance(n_distance);
    if (!slurp("data/query_bits.bin", query_bits.data(), n_query_bits * sizeof(uint32_t)) ||
        !slurp("data/base_bits.bin", base_bits.data(), n_base_bits * sizeof(uint32_t))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    uint32_t *d_query_bits = nullptr, *d_base_bits = nullptr;
    int *d_distance = nullptr;
    check(cudaMalloc(&d_query_bits, n_query_bits * sizeof(uint32_t)), "malloc query_bits");
    check(cudaMalloc(&d_base_bits, n_base_bits * sizeof(uint32_t)), "malloc base_bits");
    check(cudaMalloc(&d_distance, n_distance * sizeof(int)), "malloc distance");
    check(cudaMemcpy(d_query_bits, query_bits.data(), n_query_bits * sizeof(uint32_t), cudaMemcpyHostToDevice),
          "copy query_bits");
    check(cudaMemcpy(d_base_bits, base_bits.data(), n_base_bits * sizeof(uint32_t), cudaMemcpyHostToDevice),
          "copy base_bits");

    dim3 grid((CODES + LANES - 1) / LANES, (QUERIES + TILE - 1) / TILE);
    hamming_tiles<<<grid, LANES>>>(d_query_bits, d_base_bits, d_distance);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(distance.data(), d_distance, n_distance * sizeof(int), cudaMemcpyDeviceToHost),
          "copy distance");

    cudaFree(d_query_bits);
    cudaFree(d_base_bits);
    cudaFree(d_distance);
    return spill("data/distance.bin", distance.data(), n_distance * sizeof(int)) ? 0 : 1;
}
