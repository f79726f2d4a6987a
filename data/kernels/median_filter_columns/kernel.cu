#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

template <typename T>
__device__ __forceinline__ T max3(T a, T b, T c) {
    return max(max(a, b), c);
}

template <typename T>
__device__ __forceinline__ T min3(T a, T b, T c) {
    return min(min(a, b), c);
}

template <typename T>
__device__ __forceinline__ T median3(T a, T b, T c) {
    return max(min(a, b), min(max(a, b), c));
}

template <int kBlockX, int kBlockY>
__global__ void median3x3(const uint8_t* __restrict__ noisy, uint8_t* __restrict__ clean, int height, int width) {
    constexpr int kColumns = kBlockX + 2;
    __shared__ uint8_t low[kBlockY][kColumns], middle[kBlockY][kColumns], high[kBlockY][kColumns];

    const int x0 = blockIdx.x * kBlockX;
    const int y0 = blockIdx.y * kBlockY;
    for (int e = threadIdx.y * kBlockX + threadIdx.x; e < kBlockY * kColumns; e += kBlockX * kBlockY) {
        const int row = e / kColumns, column = e % kColumns;
        const int x = min(max(x0 + column - 1, 0), width - 1);
        const int y = min(y0 + row, height - 1);
        const int a = noisy[max(y - 1, 0) * width + x];
        const int b = noisy[y * width + x];
        const int c = noisy[min(y + 1, height - 1) * width + x];
        low[row][column] = min3(a, b, c);
        middle[row][column] = median3(a, b, c);
        high[row][column] = max3(a, b, c);
    }
    __syncthreads();

    const int x = x0 + threadIdx.x;
    const int y = y0 + threadIdx.y;
    if (x < width && y < height) {
        const int row = threadIdx.y, left = threadIdx.x;  // column x - 1 is stored at threadIdx.x
        const int lows = max3<int>(low[row][left], low[row][left + 1], low[row][left + 2]);
        const int middles = median3<int>(middle[row][left], middle[row][left + 1], middle[row][left + 2]);
        const int highs = min3<int>(high[row][left], high[row][left + 1], high[row][left + 2]);
        clean[y * width + x] = static_cast<uint8_t>(median3(lows, middles, highs));
    }
}

#define CUDA_CHECK(call)                                                                            \
    do {                                                                                            \
        const cudaError_t status = (call);                                                          \
        if (status != cudaSuccess) {                                                                \
            std::cerr << __FILE__ << ':' << __LINE__ << ": " << cudaGetErrorString(status) << '\n'; \
            std::exit(EXIT_FAILURE);                                                                \
        }                                                                                           \
    } while (false)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.get() != std::ifstream::traits_type::eof()) {
        std::cerr << path << ": expected " << count * sizeof(T) << " bytes\n";
        std::exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    constexpr int blockX = 64, blockY = 4;
    constexpr int maxSide = 16384;

    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > maxSide || width < 1 || width > maxSide) {
        std::cerr << "data/sizes.bin: " << height << " x " << width << " is not supported\n";
        return EXIT_FAILURE;
    }
    const size_t bytes = static_cast<size_t>(height) * width;
    std::vector<uint8_t> image = readFile<uint8_t>("data/noisy.bin", bytes);

    uint8_t *noisy = nullptr, *clean = nullptr;
    CUDA_CHECK(cudaMalloc(&noisy, bytes));
    CUDA_CHECK(cudaMalloc(&clean, bytes));
    CUDA_CHECK(cudaMemcpy(noisy, image.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 grid((width + blockX - 1) / blockX, (height + blockY - 1) / blockY);
    median3x3<blockX, blockY><<<grid, dim3(blockX, blockY)>>>(noisy, clean, height, width);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(image.data(), clean, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(noisy));
    CUDA_CHECK(cudaFree(clean));

    std::ofstream out("data/clean.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(image.data()), bytes);
    out.close();
    return out ? EXIT_SUCCESS : EXIT_FAILURE;
}
