#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxSize = 8192;  // the packed triangle has fewer than 2^31 elements
constexpr int kTile = 32;
constexpr int kThreadRows = 8;
constexpr int kPerThread = kTile / kThreadRows;

__global__ void triangularProduct(const float* __restrict__ L, const float* __restrict__ B, float* __restrict__ C,
                                  int n, int cols) {
    __shared__ float tileL[kTile][kTile];
    __shared__ float tileB[kTile][kTile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tileRow = gridDim.y - 1 - blockIdx.y;  // the longest rows first
    const int row0 = tileRow * kTile;
    const int col = blockIdx.x * kTile + tx;

    float sum[kPerThread] = {};
    for (int k0 = 0; k0 <= row0; k0 += kTile) {
#pragma unroll
        for (int r = ty; r < kTile; r += kThreadRows) {
            const int i = row0 + r, l = k0 + tx;
            tileL[r][tx] = i < n && l <= i ? L[i * (i + 1) / 2 + l] : 0.0f;
            tileB[r][tx] = k0 + r < n && col < cols ? B[(k0 + r) * cols + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTile; ++k) {
            const float b = tileB[k][tx];
#pragma unroll
            for (int q = 0; q < kPerThread; ++q) sum[q] += tileL[ty + kThreadRows * q][k] * b;
        }
        __syncthreads();
    }

#pragma unroll
    for (int q = 0; q < kPerThread; ++q) {
        const int row = row0 + ty + kThreadRows * q;
        if (row < n && col < cols) C[row * cols + col] = sum[q];
    }
}

static void stopUnless(bool good, const char* what) {
    if (!good) {
        std::cerr << what << std::endl;
        std::exit(EXIT_FAILURE);
    }
}

static void check(cudaError_t status) { stopUnless(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    stopUnless(in && in.peek() == std::ifstream::traits_type::eof(), path);
    return values;
}

static float* toDevice(const std::vector<float>& host) {
    float* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(float)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 2);
    const int n = sizes[0], cols = sizes[1];
    stopUnless(n >= 1 && n <= kMaxSize && cols >= 1 && cols <= kMaxSize, "data/sizes.bin: not in 1..8192");

    float* L = toDevice(load<float>("data/L.bin", static_cast<size_t>(n) * (n + 1) / 2));
    float* B = toDevice(load<float>("data/B.bin", static_cast<size_t>(n) * cols));
    std::vector<float> result(static_cast<size_t>(n) * cols);
    float* C = nullptr;
    check(cudaMalloc(&C, result.size() * sizeof(float)));

    const dim3 block(kTile, kThreadRows);
    const dim3 grid((cols + kTile - 1) / kTile, (n + kTile - 1) / kTile);
    triangularProduct<<<grid, block>>>(L, B, C, n, cols);
    check(cudaGetLastError());
    check(cudaMemcpy(result.data(), C, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(L));
    check(cudaFree(B));
    check(cudaFree(C));

    std::ofstream out("data/C.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(float));
    out.close();
    stopUnless(out.good(), "data/C.bin: cannot be written");
    return EXIT_SUCCESS;
}
