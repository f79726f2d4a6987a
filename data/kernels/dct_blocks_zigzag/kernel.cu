#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxBlocks = 1024, kSide = 8, kPerBlock = 4;

__constant__ float cosine[kSide][kSide];
__constant__ int zigzag[kSide * kSide];

__global__ void transform(const uint8_t* __restrict__ image, float* __restrict__ coefficients, int blockCols) {
    __shared__ float pixels[kPerBlock][kSide][kSide + 1], half[kPerBlock][kSide][kSide + 1];
    const int x = threadIdx.x, y = threadIdx.y, b = threadIdx.z;
    const int column = blockIdx.x * kPerBlock + b, row = blockIdx.y;
    const bool present = column < blockCols;
    const size_t width = static_cast<size_t>(blockCols) * kSide;
    pixels[b][y][x] = present ? image[(row * kSide + y) * width + column * kSide + x] - 128.0f : 0.0f;
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kSide; ++k) sum += pixels[b][y][k] * cosine[x][k];
    half[b][y][x] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kSide; ++k) sum += cosine[y][k] * half[b][k][x];
    if (present) {
        coefficients[(static_cast<size_t>(row) * blockCols + column) * 64 + zigzag[y * kSide + x]] = sum;
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

static void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(static_cast<char*>(data), bytes)) throw std::runtime_error(path + ": cannot be read");
}

static void setTables() {
    float table[kSide][kSide];
    int position[kSide * kSide], next = 0;
    for (int u = 0; u < kSide; ++u) {
        for (int x = 0; x < kSide; ++x) {
            const double scale = u == 0 ? std::sqrt(0.125) : 0.5;
            table[u][x] = static_cast<float>(scale * std::cos((2 * x + 1) * u * 3.14159265358979323846 / 16.0));
        }
    }
    for (int d = 0; d < 2 * kSide - 1; ++d) {
        for (int k = 0; k <= d; ++k) {
            const int u = d % 2 == 0 ? d - k : k;
            if (u < kSide && d - u < kSide) position[u * kSide + d - u] = next++;
        }
    }
    check(cudaMemcpyToSymbol(cosine, table, sizeof table), "cosines");
    check(cudaMemcpyToSymbol(zigzag, position, sizeof position), "zigzag");
}

static void run() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int blockRows = sizes[0], blockCols = sizes[1];
    if (blockRows < 1 || blockRows > kMaxBlocks || blockCols < 1 || blockCols > kMaxBlocks) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const size_t pixels = static_cast<size_t>(blockRows) * blockCols * 64;
    std::vector<uint8_t> image(pixels);
    readFile("data/image.bin", image.data(), pixels);

    uint8_t* dImage = nullptr;
    float* dCoefficients = nullptr;
    check(cudaMalloc(&dImage, pixels), "allocate");
    check(cudaMalloc(&dCoefficients, pixels * sizeof(float)), "allocate");
    check(cudaMemcpy(dImage, image.data(), pixels, cudaMemcpyHostToDevice), "upload");
    setTables();
    const dim3 grid((blockCols + kPerBlock - 1) / kPerBlock, blockRows);
    transform<<<grid, dim3(kSide, kSide, kPerBlock)>>>(dImage, dCoefficients, blockCols);
    check(cudaGetLastError(), "launch");
    std::vector<float> result(pixels);
    check(cudaMemcpy(result.data(), dCoefficients, pixels * sizeof(float), cudaMemcpyDeviceToHost), "download");
    check(cudaFree(dImage), "free");
    check(cudaFree(dCoefficients), "free");

    std::ofstream out("data/coefficients.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), pixels * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/coefficients.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
