#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 60;
constexpr int kItems = 100;
constexpr int kWarps = 8;

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

// One warp a row, sums by shuffles, no shared memory.
__global__ void spearman_warp(const int* __restrict__ rank_a, const int* __restrict__ rank_b,
                              float* __restrict__ rho, int* __restrict__ footrule) {
    const int lane = threadIdx.x % 32, row = blockIdx.x * kWarps + threadIdx.x / 32;
    if (row >= kRows) return;
    const int* a = rank_a + (size_t)row * kItems;
    const int* b = rank_b + (size_t)row * kItems;
    unsigned long long squares = 0;
    int absolute = 0;
    for (int i = lane; i < kItems; i += 32) {
        const int d = abs(a[i] - b[i]);
        absolute += d;
        squares += (unsigned long long)d * d;
    }
    for (int s = 16; s > 0; s >>= 1) {
        absolute += __shfl_down_sync(0xffffffffu, absolute, s);
        squares += __shfl_down_sync(0xffffffffu, squares, s);
    }
    if (lane == 0) {
        const double cubes = (double)kItems * ((double)kItems * kItems - 1.0);
        rho[row] = (float)(1.0 - 6.0 * (double)squares / cubes);
        footrule[row] = absolute;
    }
}

int main() {
    const size_t numel = (size_t)kRows * kItems;
    std::vector<int> rank_a(numel);
    std::vector<int> rank_b(numel);
    std::vector<float> rho(kRows);
    std::vector<int> footrule(kRows);
    if (!readFile("data/rank_a.bin", rank_a.data(), numel * sizeof(int)) ||
        !readFile("data/rank_b.bin", rank_b.data(), numel * sizeof(int))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    int *d_rank_a = nullptr, *d_rank_b = nullptr, *d_footrule = nullptr;
    float *d_rho = nullptr;
    check(cudaMalloc(&d_rank_a, numel * sizeof(int)), "malloc rank_a");
    check(cudaMalloc(&d_rank_b, numel * sizeof(int)), "malloc rank_b");
    check(cudaMalloc(&d_rho, kRows * sizeof(float)), "malloc rho");
    check(cudaMalloc(&d_footrule, kRows * sizeof(int)), "malloc footrule");
    check(cudaMemcpy(d_rank_a, rank_a.data(), numel * sizeof(int), cudaMemcpyHostToDevice),
          "copy rank_a");
    check(cudaMemcpy(d_rank_b, rank_b.data(), numel * sizeof(int), cudaMemcpyHostToDevice),
          "copy rank_b");

    spearman_warp<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(d_rank_a, d_rank_b, d_rho, d_footrule);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(rho.data(), d_rho, kRows * sizeof(float), cudaMemcpyDeviceToHost),
          "copy rho");
    check(cudaMemcpy(footrule.data(), d_footrule, kRows * sizeof(int), cudaMemcpyDeviceToHost),
          "copy footrule");

    cudaFree(d_rank_a);
    cudaFree(d_rank_b);
    cudaFree(d_rho);
    cudaFree(d_footrule);
    if (!writeFile("data/rho.bin", rho.data(), kRows * sizeof(float))) return 1;
    if (!writeFile("data/footrule.bin", footrule.data(), kRows * sizeof(int))) return 1;
    return 0;
}
