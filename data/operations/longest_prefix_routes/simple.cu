#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 3000;
constexpr int ROUTES = 40;

static inline void check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool readFile(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool writeFile(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

__global__ void find_route(const uint32_t* addresses, const uint32_t* prefixes, const int* prefix_len,
                           int* route, int* matches) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    uint32_t address = addresses[i];
    int best = -1, best_len = -1, count = 0;
    for (int j = 0; j < ROUTES; ++j) {
        int len = prefix_len[j];
        uint32_t mask = len == 0 ? 0u : 0xffffffffu << (32 - len);
        if (((address ^ prefixes[j]) & mask) == 0) {
            ++count;
            if (len > best_len) {
                best_len = len;
                best = j;
            }
        }
    }
    route[i] = best;
    matches[i] = count;
}

int main() {
    std::vector<uint32_t> addresses(N);
    std::vector<uint32_t> prefixes(ROUTES);
    std::vector<int> prefix_len(ROUTES);
    std::vector<int> route(N);
    std::vector<int> matches(N);
    if (!readFile("data/addresses.bin", addresses.data(), N * sizeof(uint32_t)) ||
        !readFile("data/prefixes.bin", prefixes.data(), ROUTES * sizeof(uint32_t)) ||
        !readFile("data/prefix_len.bin", prefix_len.data(), ROUTES * sizeof(int))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    uint32_t *d_addresses = nullptr, *d_prefixes = nullptr;
    int *d_prefix_len = nullptr, *d_route = nullptr, *d_matches = nullptr;
    check(cudaMalloc(&d_addresses, N * sizeof(uint32_t)), "malloc addresses");
    check(cudaMalloc(&d_prefixes, ROUTES * sizeof(uint32_t)), "malloc prefixes");
    check(cudaMalloc(&d_prefix_len, ROUTES * sizeof(int)), "malloc prefix_len");
    check(cudaMalloc(&d_route, N * sizeof(int)), "malloc route");
    check(cudaMalloc(&d_matches, N * sizeof(int)), "malloc matches");
    check(cudaMemcpy(d_addresses, addresses.data(), N * sizeof(uint32_t), cudaMemcpyHostToDevice),
          "copy addresses");
    check(cudaMemcpy(d_prefixes, prefixes.data(), ROUTES * sizeof(uint32_t), cudaMemcpyHostToDevice),
          "copy prefixes");
    check(cudaMemcpy(d_prefix_len, prefix_len.data(), ROUTES * sizeof(int), cudaMemcpyHostToDevice),
          "copy prefix_len");

    find_route<<<(N + 256 - 1) / 256, 256>>>(d_addresses, d_prefixes, d_prefix_len, d_route, d_matches);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(route.data(), d_route, N * sizeof(int), cudaMemcpyDeviceToHost),
          "copy route");
    check(cudaMemcpy(matches.data(), d_matches, N * sizeof(int), cudaMemcpyDeviceToHost),
          "copy matches");

    cudaFree(d_addresses);
    cudaFree(d_prefixes);
    cudaFree(d_prefix_len);
    cudaFree(d_route);
    cudaFree(d_matches);
    if (!writeFile("data/route.bin", route.data(), N * sizeof(int))) return 1;
    if (!writeFile("data/matches.bin", matches.data(), N * sizeof(int))) return 1;
    return 0;
}
