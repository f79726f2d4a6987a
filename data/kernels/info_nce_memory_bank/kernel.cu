#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 8;
constexpr int kTile = 32;
constexpr int kMaxWidth = 128;
constexpr float kInverseTemperature = 8.0f;
constexpr unsigned kAll = 0xffffffffu;

// (top, sum) stands for sum * exp(top); an empty one is (-inf, 0).
__device__ void merge(float& top, float& sum, float otherTop, float otherSum) {
    const float highest = fmaxf(top, otherTop);
    if (highest == -INFINITY) return;
    sum = sum * expf(top - highest) + otherSum * expf(otherTop - highest);
    top = highest;
}

__global__ void infoNce(const float* __restrict__ query, const float* __restrict__ positive,
                        const float* __restrict__ negatives, float* __restrict__ loss, int queries, int bank,
                        int width) {
    __shared__ float keys[kTile][kMaxWidth + 1];
    __shared__ float own[kWarps][kMaxWidth];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int i = blockIdx.x * kWarps + warp;
    for (int d = lane; d < width; d += 32) own[warp][d] = i < queries ? query[static_cast<size_t>(i) * width + d] : 0;

    float top = -INFINITY, sum = 0.0f;
    for (int base = 0; base < bank; base += kTile) {
        __syncthreads();
        const int rows = min(kTile, bank - base);
        for (int at = threadIdx.x; at < rows * width; at += blockDim.x) {
            keys[at / width][at % width] = negatives[static_cast<size_t>(base) * width + at];
        }
        __syncthreads();
        if (lane < rows) {
            float score = 0.0f;
            for (int d = 0; d < width; ++d) score = fmaf(own[warp][d], keys[lane][d], score);
            merge(top, sum, score * kInverseTemperature, 1.0f);
        }
    }
    if (i >= queries) return;  // no barrier follows

    float mine = 0.0f;
    for (int d = lane; d < width; d += 32) mine += own[warp][d] * positive[static_cast<size_t>(i) * width + d];
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(kAll, mine, step);
    mine *= kInverseTemperature;
    if (lane == 0) merge(top, sum, mine, 1.0f);
    for (int step = 16; step > 0; step /= 2) {
        const float otherTop = __shfl_xor_sync(kAll, top, step), otherSum = __shfl_xor_sync(kAll, sum, step);
        merge(top, sum, otherTop, otherSum);
    }
    if (lane == 0) loss[i] = logf(sum) + (top - mine);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

class Matrix {
public:
    Matrix(size_t rows, size_t cols) : count_(rows * cols) { check(cudaMalloc(&data_, count_ * sizeof(float))); }
    Matrix(const std::string& path, size_t rows, size_t cols) : Matrix(rows, cols) {
        std::vector<float> host(count_);
        std::ifstream in(path, std::ios::binary);
        in.read(reinterpret_cast<char*>(host.data()), count_ * sizeof(float));
        if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong length");
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
    }
    Matrix(const Matrix&) = delete;
    ~Matrix() { cudaFree(data_); }
    float* data() const { return data_; }
    void write(const std::string& path) const {
        std::vector<float> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(float), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

private:
    float* data_ = nullptr;
    size_t count_;
};

int main() {
    try {
        int32_t sizes[3];
        std::ifstream in("data/sizes.bin", std::ios::binary);
        if (!in.read(reinterpret_cast<char*>(sizes), sizeof sizes) || in.peek() != EOF) {
            throw std::runtime_error("data/sizes.bin: expected three values");
        }
        const int queries = sizes[0], bank = sizes[1], width = sizes[2];
        if (queries < 1 || queries > 65536 || bank < 1 || bank > 65536 || width < 1 || width > kMaxWidth) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const Matrix query("data/query.bin", queries, width), positive("data/positive.bin", queries, width);
        const Matrix negatives("data/negatives.bin", bank, width), loss(queries, 1);
        infoNce<<<(queries + kWarps - 1) / kWarps, 32 * kWarps>>>(query.data(), positive.data(), negatives.data(),
                                                                  loss.data(), queries, bank, width);
        check(cudaGetLastError());
        loss.write("data/loss.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
