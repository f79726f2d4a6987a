#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

constexpr int kMaxCodes = 16777216;
constexpr int kLevels = 10;
constexpr int kThreads = 256, kMaxBlocks = 1024;

__global__ void sharedLevels(const uint32_t* __restrict__ codes, uint8_t* __restrict__ shared, int* histogram, int n) {
    __shared__ int counts[kLevels + 1];
    if (threadIdx.x <= kLevels) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const int depth = i == 0 ? 0 : (__clz(codes[i] ^ codes[i - 1]) - 2) / 3;
        shared[i] = static_cast<uint8_t>(depth);
        atomicAdd(&counts[depth], 1);
    }
    __syncthreads();
    if (threadIdx.x <= kLevels) atomicAdd(&histogram[threadIdx.x], counts[threadIdx.x]);
}

struct FileCloser {
    void operator()(FILE* file) const { fclose(file); }
};
using File = std::unique_ptr<FILE, FileCloser>;

void give_up(const char* subject, const char* reason) {
    fprintf(stderr, "%s: %s\n", subject, reason);
    exit(1);
}

void gpu(cudaError_t status, const char* step) {
    if (status != cudaSuccess) give_up(step, cudaGetErrorString(status));
}

template <typename T>
void read_values(const char* path, std::vector<T>& values) {
    File file(fopen(path, "rb"));
    if (!file) give_up(path, "cannot be opened");
    const size_t got = fread(values.data(), sizeof(T), values.size(), file.get());
    if (got != values.size() || fgetc(file.get()) != EOF) give_up(path, "has another length than expected");
}

template <typename T>
void write_values(const char* path, const std::vector<T>& values) {
    File file(fopen(path, "wb"));
    if (!file || fwrite(values.data(), sizeof(T), values.size(), file.get()) != values.size() || fflush(file.get())) {
        give_up(path, "cannot be written");
    }
}

int main() {
    std::vector<int> sizes(1);
    read_values("data/sizes.bin", sizes);
    const int n = sizes[0];
    if (n < 1 || n > kMaxCodes) give_up("data/sizes.bin", "n is out of range");
    std::vector<uint32_t> codes(n);
    read_values("data/codes.bin", codes);
    for (int i = 0; i < n; ++i) {
        if (codes[i] >> 30 || (i > 0 && codes[i] < codes[i - 1])) give_up("data/codes.bin", "not sorted 30-bit codes");
    }

    uint32_t* d_codes;
    uint8_t* d_shared;
    int* d_histogram;
    gpu(cudaMalloc(&d_codes, n * sizeof(uint32_t)), "cudaMalloc");
    gpu(cudaMalloc(&d_shared, n), "cudaMalloc");
    gpu(cudaMalloc(&d_histogram, (kLevels + 1) * sizeof(int)), "cudaMalloc");
    gpu(cudaMemset(d_histogram, 0, (kLevels + 1) * sizeof(int)), "cudaMemset");
    gpu(cudaMemcpy(d_codes, codes.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice), "upload");

    const int blocks = (n + kThreads - 1) / kThreads;
    sharedLevels<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads>>>(d_codes, d_shared, d_histogram, n);
    gpu(cudaGetLastError(), "launch");

    std::vector<uint8_t> shared(n);
    std::vector<int> cells(kLevels + 1);
    gpu(cudaMemcpy(shared.data(), d_shared, n, cudaMemcpyDeviceToHost), "download");
    gpu(cudaMemcpy(cells.data(), d_histogram, cells.size() * sizeof(int), cudaMemcpyDeviceToHost), "download");
    for (int level = 1; level < kLevels; ++level) cells[level] += cells[level - 1];
    cells.resize(kLevels);
    write_values("data/shared.bin", shared);
    write_values("data/cells.bin", cells);
    gpu(cudaFree(d_codes), "cudaFree");
    gpu(cudaFree(d_shared), "cudaFree");
    gpu(cudaFree(d_histogram), "cudaFree");
    return 0;
}
