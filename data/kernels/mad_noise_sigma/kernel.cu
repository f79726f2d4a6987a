#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxRows = 65535, kMaxLength = 1 << 20;
constexpr int kThreads = 256, kDigits = 256;

struct Search {
    uint32_t prefix;  // the digits found so far
    int rank;         // among the values that have this prefix
};

// The magnitude of rank `rank` in a row; every thread of the block gets it.
__device__ float select(const float* row, int n, int rank, int* histogram, Search* search) {
    if (threadIdx.x == 0) *search = {0u, rank};
    for (int shift = 24; shift >= 0; shift -= 8) {
        histogram[threadIdx.x] = 0;
        __syncthreads();
        const Search now = *search;
        const uint32_t known = shift == 24 ? 0u : 0xFFFFFFFFu << (shift + 8);
        for (int i = threadIdx.x; i < n; i += kThreads) {
            const uint32_t bits = __float_as_uint(row[i]) & 0x7FFFFFFFu;
            if ((bits & known) == now.prefix) atomicAdd(&histogram[bits >> shift & 255u], 1);
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            const int first = threadIdx.x * 8;
            int own = 0;
            for (int d = first; d < first + 8; ++d) own += histogram[d];
            int through = own;
            for (int step = 1; step < 32; step *= 2) {
                const int before = __shfl_up_sync(0xFFFFFFFFu, through, step);
                if (threadIdx.x >= step) through += before;
            }
            int below = through - own;
            if (below <= now.rank && now.rank < through) {  // true on one lane
                int digit = first;
                while (now.rank >= below + histogram[digit]) below += histogram[digit++];
                *search = {now.prefix | static_cast<uint32_t>(digit) << shift, now.rank - below};
            }
        }
        __syncthreads();
    }
    const float found = __uint_as_float(search->prefix);
    __syncthreads();  // before the search is used again
    return found;
}

__global__ void noiseLevels(const float* __restrict__ detail, float* __restrict__ sigma, int n) {
    __shared__ int histogram[kDigits];
    __shared__ Search search;
    const float* row = detail + static_cast<size_t>(blockIdx.x) * n;
    const float low = select(row, n, (n - 1) / 2, histogram, &search);
    float median = low;
    if (n % 2 == 0) median = 0.5f * low + 0.5f * select(row, n, n / 2, histogram, &search);
    if (threadIdx.x == 0) sigma[blockIdx.x] = median / 0.6745f;
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool exact = file && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) throw std::runtime_error(std::string(path) + ": expected " + std::to_string(bytes) + " bytes");
}

static void run() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int rows = sizes[0], n = sizes[1];
    if (rows < 1 || rows > kMaxRows || n < 1 || n > kMaxLength) {
        throw std::runtime_error("data/sizes.bin: rows or n out of range");
    }
    std::vector<float> detail(static_cast<size_t>(rows) * n), sigma(rows);
    readFile("data/detail.bin", detail.data(), detail.size() * sizeof(float));

    float *dDetail = nullptr, *dSigma = nullptr;
    check(cudaMalloc(&dDetail, detail.size() * sizeof(float)), "allocate");
    check(cudaMalloc(&dSigma, rows * sizeof(float)), "allocate");
    check(cudaMemcpy(dDetail, detail.data(), detail.size() * sizeof(float), cudaMemcpyHostToDevice), "upload");
    noiseLevels<<<rows, kThreads>>>(dDetail, dSigma, n);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(sigma.data(), dSigma, rows * sizeof(float), cudaMemcpyDeviceToHost), "download");
    check(cudaFree(dDetail), "free");
    check(cudaFree(dSigma), "free");

    FILE* out = fopen("data/sigma.bin", "wb");
    const bool whole = out && fwrite(sigma.data(), sizeof(float), rows, out) == sigma.size();
    if (!out || fclose(out) != 0 || !whole) throw std::runtime_error("data/sigma.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
