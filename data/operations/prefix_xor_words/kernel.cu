#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("short file: " + path);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int N = 20000;
constexpr int BLOCK = 256;
constexpr int ITEMS = 8;
constexpr int TILE = BLOCK * ITEMS;
constexpr int PARTS = (N + TILE - 1) / TILE;

__device__ unsigned int warp_scan(unsigned int v) {
    int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        unsigned int u = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v ^= u;
    }
    return v;
}

// Reduce first: one xor per tile.
__global__ void tile_totals(const unsigned int* __restrict__ words, unsigned int* totals) {
    __shared__ unsigned int s[BLOCK / 32];
    unsigned int x = 0;
    for (int k = 0; k < ITEMS; ++k) {
        int i = blockIdx.x * TILE + k * BLOCK + threadIdx.x;
        if (i < N) x ^= words[i];
    }
    for (int d = 16; d > 0; d /= 2) x ^= __shfl_down_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) x ^= s[w];
        totals[blockIdx.x] = x;
    }
}

__global__ void exclusive_totals(unsigned int* totals) {
    unsigned int carry = 0;
    for (int start = 0; start < PARTS; start += 32) {
        int k = start + threadIdx.x;
        unsigned int own = k < PARTS ? totals[k] : 0u;
        unsigned int scanned = warp_scan(own) ^ carry;
        if (k < PARTS) totals[k] = scanned ^ own;
        carry = __shfl_sync(0xffffffffu, scanned, 31);
    }
}

__global__ void scan_tiles(const unsigned int* __restrict__ words, const unsigned int* totals,
    unsigned int* prefix) {
    __shared__ unsigned int s[BLOCK / 32];
    unsigned int carry = totals[blockIdx.x];
    for (int k = 0; k < ITEMS; ++k) {
        int i = blockIdx.x * TILE + k * BLOCK + threadIdx.x;
        unsigned int v = warp_scan(i < N ? words[i] : 0u);
        if (threadIdx.x % 32 == 31) s[threadIdx.x / 32] = v;
        __syncthreads();
        unsigned int before = carry;
        for (int w = 0; w < BLOCK / 32; ++w) {
            if (w < threadIdx.x / 32) before ^= s[w];
            carry ^= s[w];
        }
        if (i < N) prefix[i] = before ^ v;
        __syncthreads();
    }
}

int main() {
    const auto h_words = read_vector<unsigned int>("data/words.bin", N);

    unsigned int* d_words = nullptr;
    unsigned int* d_prefix = nullptr;
    unsigned int* d_totals;
    cudaMalloc(&d_words, N * sizeof(unsigned int));
    cudaMalloc(&d_prefix, N * sizeof(unsigned int));
    cudaMalloc(&d_totals, PARTS * sizeof(unsigned int));
    cudaMemcpy(d_words, h_words.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);

    tile_totals<<<PARTS, BLOCK>>>(d_words, d_totals);
    exclusive_totals<<<1, 32>>>(d_totals);
    scan_tiles<<<PARTS, BLOCK>>>(d_words, d_totals, d_prefix);
    if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    std::vector<unsigned int> h_prefix(N);
    cudaMemcpy(h_prefix.data(), d_prefix, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_vector("data/prefix.bin", h_prefix);
    cudaFree(d_words);
    cudaFree(d_prefix);
    cudaFree(d_totals);
    return 0;
}
