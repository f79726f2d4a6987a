#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 40;
constexpr int kCols = 100;
constexpr int kBlock = 128;

static inline void must(cudaError_t e, const char* what) {
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

// One block a row; the row lies in shared memory.
__global__ void lehmer_row(const int* __restrict__ perms, int* __restrict__ codes, int* __restrict__ inversions) {
    __shared__ int row[kCols];
    __shared__ int total;
    const size_t base = (size_t)blockIdx.x * kCols;
    if (threadIdx.x == 0) total = 0;
    for (int i = threadIdx.x; i < kCols; i += kBlock) row[i] = perms[base + i];
    __syncthreads();
    int mine = 0;
    for (int i = threadIdx.x; i < kCols; i += kBlock) {
        const int value = row[i];
        // At most `value` numbers are smaller; those in front are subtracted if that way is shorter.
        int count = 0;
        if (i < kCols / 2) {
            for (int j = 0; j < i; ++j) count += row[j] < value;
            count = value - count;
        } else {
            for (int j = i + 1; j < kCols; ++j) count += row[j] < value;
        }
        codes[base + i] = count;
        mine += count;
    }
    for (int s = 16; s > 0; s >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, s);
    if ((threadIdx.x & 31) == 0) atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) inversions[blockIdx.x] = total;
}

int main() {
    const size_t numel = kRows * kCols;
    std::vector<int> perms(numel);
    std::vector<int> codes(numel);
    std::vector<int> inversions(kRows);
    if (!readFile("data/perms.bin", perms.data(), numel * sizeof(int))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    int *d_perms = nullptr, *d_codes = nullptr, *d_inversions = nullptr;
    must(cudaMalloc(&d_perms, numel * sizeof(int)), "malloc perms");
    must(cudaMalloc(&d_codes, numel * sizeof(int)), "malloc codes");
    must(cudaMalloc(&d_inversions, kRows * sizeof(int)), "malloc inversions");
    must(cudaMemcpy(d_perms, perms.data(), numel * sizeof(int), cudaMemcpyHostToDevice),
          "copy perms");

    lehmer_row<<<kRows, kBlock>>>(d_perms, d_codes, d_inversions);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(codes.data(), d_codes, numel * sizeof(int), cudaMemcpyDeviceToHost),
          "copy codes");
    must(cudaMemcpy(inversions.data(), d_inversions, kRows * sizeof(int), cudaMemcpyDeviceToHost),
          "copy inversions");

    cudaFree(d_perms);
    cudaFree(d_codes);
    cudaFree(d_inversions);
    if (!writeFile("data/codes.bin", codes.data(), numel * sizeof(int))) return 1;
    if (!writeFile("data/inversions.bin", inversions.data(), kRows * sizeof(int))) return 1;
    return 0;
}
