#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <vector>

constexpr int kMaxSide = 16384;
constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kRadius = 3;
constexpr int kTaps = 2 * kRadius + 1;
constexpr int kTileX = kBlockX + 2 * kRadius, kTileY = kBlockY + 2 * kRadius;

__constant__ int weights[kTaps] = {1, 6, 15, 20, 15, 6, 1};

__device__ __forceinline__ int clampTo(int value, int limit) { return min(max(value, 0), limit - 1); }

__global__ void binomialBlur(const uint8_t* __restrict__ gray, uint8_t* __restrict__ blurred, int height, int width) {
    __shared__ uint8_t pixels[kTileY][kTileX];
    __shared__ uint16_t sums[kTileY][kBlockX];
    const int thread = threadIdx.y * kBlockX + threadIdx.x;
    const int x0 = blockIdx.x * kBlockX - kRadius;
    const int y0 = blockIdx.y * kBlockY - kRadius;

    for (int e = thread; e < kTileY * kTileX; e += kBlockX * kBlockY) {
        int y = clampTo(y0 + e / kTileX, height);
        int x = clampTo(x0 + e % kTileX, width);
        pixels[e / kTileX][e % kTileX] = gray[y * width + x];
    }
    __syncthreads();

    for (int e = thread; e < kTileY * kBlockX; e += kBlockX * kBlockY) {
        int row = e / kBlockX, col = e % kBlockX;
        int sum = 0;
#pragma unroll
        for (int k = 0; k < kTaps; ++k) sum += weights[k] * pixels[row][col + k];
        sums[row][col] = static_cast<uint16_t>(sum);
    }
    __syncthreads();

    const int x = blockIdx.x * kBlockX + threadIdx.x;
    const int y = blockIdx.y * kBlockY + threadIdx.y;
    if (x < width && y < height) {
        int sum = 0;
#pragma unroll
        for (int k = 0; k < kTaps; ++k) sum += weights[k] * sums[threadIdx.y + k][threadIdx.x];
        blurred[y * width + x] = static_cast<uint8_t>((sum + 2048) >> 12);
    }
}

static bool succeeded(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return true;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    return false;
}

static bool readExactly(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const bool fits = in && static_cast<size_t>(in.tellg()) == bytes;
    if (fits && in.seekg(0).read(static_cast<char*>(target), bytes)) return true;
    std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
    return false;
}

int main() {
    int32_t sizes[2];
    if (!readExactly("data/sizes.bin", sizes, sizeof(sizes))) return 1;
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) {
        std::fprintf(stderr, "data/sizes.bin: %d x %d is not supported\n", height, width);
        return 1;
    }
    const size_t bytes = static_cast<size_t>(height) * width;
    std::vector<char> image(bytes);
    if (!readExactly("data/gray.bin", image.data(), bytes)) return 1;

    uint8_t *gray = nullptr, *blurred = nullptr;
    if (!succeeded(cudaMalloc(&gray, bytes), "cudaMalloc")) return 1;
    if (!succeeded(cudaMalloc(&blurred, bytes), "cudaMalloc")) return 1;
    if (!succeeded(cudaMemcpy(gray, image.data(), bytes, cudaMemcpyHostToDevice), "upload")) return 1;

    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY);
    binomialBlur<<<grid, block>>>(gray, blurred, height, width);
    if (!succeeded(cudaGetLastError(), "launch")) return 1;
    if (!succeeded(cudaMemcpy(image.data(), blurred, bytes, cudaMemcpyDeviceToHost), "download")) return 1;
    if (!succeeded(cudaFree(gray), "cudaFree") || !succeeded(cudaFree(blurred), "cudaFree")) return 1;

    std::ofstream out("data/blurred.bin", std::ios::binary);
    out.write(image.data(), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/blurred.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
