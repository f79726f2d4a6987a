#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 20;
constexpr int kRowWords = 4;
constexpr int kColWords = 9;
constexpr int kLd = kColWords | 1;

inline void require(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool read_all(const char* path, std::vector<unsigned int>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(unsigned int), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool write_all(const char* path, const std::vector<unsigned int>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(unsigned int), v.size(), f);
    fclose(f);
    return n == v.size();
}

// A block holds the 32 rows of one result word in shared memory; a ballot of a warp makes the word.
__global__ void bit_product_ballot(const unsigned int* __restrict__ matrix, const unsigned int* __restrict__ x,
                                   unsigned int* __restrict__ y) {
    __shared__ unsigned int rows[32 * kLd];
    const int w = blockIdx.x;
    for (int e = threadIdx.x; e < 32 * kColWords; e += 256) {
        rows[e / kColWords * kLd + e % kColWords] = matrix[w * 32 * kColWords + e];
    }
    __syncthreads();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int b = blockIdx.y * 8 + warp; b < kBatch; b += gridDim.y * 8) {
        const unsigned int* v = x + b * kColWords;
        unsigned int acc = 0;
        for (int k = 0; k < kColWords; ++k) acc ^= rows[lane * kLd + k] & v[k];
        const unsigned int word = __ballot_sync(0xffffffffu, __popc(acc) & 1);
        if (lane == 0) y[b * kRowWords + w] = word;
    }
}

int main() {
    std::vector<unsigned int> h_matrix(kRowWords * 32 * kColWords);
    std::vector<unsigned int> h_x(kBatch * kColWords);
    std::vector<unsigned int> h_y(kBatch * kRowWords);
    if (!read_all("data/matrix.bin", h_matrix) || !read_all("data/x.bin", h_x)) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    unsigned int *d_matrix = nullptr, *d_x = nullptr, *d_y = nullptr;
    require(cudaMalloc(&d_matrix, sizeof(unsigned int) * kRowWords * 32 * kColWords), "cudaMalloc matrix");
    require(cudaMalloc(&d_x, sizeof(unsigned int) * kBatch * kColWords), "cudaMalloc x");
    require(cudaMalloc(&d_y, sizeof(unsigned int) * kBatch * kRowWords), "cudaMalloc y");
    require(cudaMemcpy(d_matrix, h_matrix.data(), sizeof(unsigned int) * kRowWords * 32 * kColWords,
            cudaMemcpyHostToDevice), "copy matrix");
    require(cudaMemcpy(d_x, h_x.data(), sizeof(unsigned int) * kBatch * kColWords, cudaMemcpyHostToDevice), "copy x");

    const int groups = (kBatch + 7) / 8;
    bit_product_ballot<<<dim3(kRowWords, groups < 64 ? groups : 64), 256>>>(d_matrix, d_x, d_y);
    require(cudaGetLastError(), "launch");
    require(cudaMemcpy(h_y.data(), d_y, sizeof(unsigned int) * kBatch * kRowWords, cudaMemcpyDeviceToHost), "copy y");

    if (!write_all("data/y.bin", h_y)) return 1;
    cudaFree(d_matrix);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
