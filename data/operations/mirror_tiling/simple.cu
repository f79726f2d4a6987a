#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPlanes = 3;
constexpr int kHeight = 31;
constexpr int kWidth = 40;
constexpr int kTilesY = 3;
constexpr int kTilesX = 4;
constexpr int kOutH = kTilesY * kHeight;
constexpr int kOutW = kTilesX * kWidth;
const size_t tile_len = (size_t)kPlanes * kHeight * kWidth;
const size_t mosaic_len = (size_t)kPlanes * (3 * kHeight) * (4 * kWidth);

__global__ void mirror_tiles(const float* tile, float* mosaic) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int p = blockIdx.z;
    if (x >= kOutW || y >= kOutH) return;
    int sx = x % kWidth;
    int sy = y % kHeight;
    if ((x / kWidth) % 2 == 1) sx = kWidth - 1 - sx;
    if ((y / kHeight) % 2 == 1) sy = kHeight - 1 - sy;
    mosaic[(p * kOutH + y) * kOutW + x] = tile[(p * kHeight + sy) * kWidth + sx];
}

void solve(const float* dev_tile, float* dev_mosaic) {
    dim3 block(32, 8);
    dim3 grid((kOutW + 32 - 1) / 32, (kOutH + 8 - 1) / 8, kPlanes);
    mirror_tiles<<<grid, block>>>(dev_tile, dev_mosaic);
}

int main() {
    std::vector<float> h_tile(tile_len);
    std::vector<float> h_mosaic(mosaic_len);
    std::ifstream tile_stream("data/tile.bin", std::ios::binary);
    if (!tile_stream.read((char*)h_tile.data(), tile_len * sizeof(float))) {
        std::cerr << "missing data/tile.bin\n";
        return 1;
    }

    float* dev_tile = nullptr;
    cudaMalloc(&dev_tile, tile_len * sizeof(float));
    cudaMemcpy(dev_tile, h_tile.data(), tile_len * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_mosaic = nullptr;
    cudaMalloc(&dev_mosaic, mosaic_len * sizeof(float));

    solve(dev_tile, dev_mosaic);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(rc) << '\n';
        return 1;
    }
    cudaMemcpy(h_mosaic.data(), dev_mosaic, mosaic_len * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/mosaic.bin", std::ios::binary).write((char*)h_mosaic.data(), mosaic_len * sizeof(float));
    cudaFree(dev_tile);
    cudaFree(dev_mosaic);
    return 0;
}
