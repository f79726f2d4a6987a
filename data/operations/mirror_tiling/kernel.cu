#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& name, float* dst, size_t n) {
    std::ifstream in(name, std::ios::binary);
    in.read(reinterpret_cast<char*>(dst), n * sizeof(float));
    if (!in) {
        std::cerr << "cannot read " << name << std::endl;
        std::exit(1);
    }
}

void write_binary(const std::string& name, const float* src, size_t n) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(src), n * sizeof(float));
}
//@given

constexpr int PLANES = 3;
constexpr int HEIGHT = 31;
constexpr int WIDTH = 40;
constexpr int TILES_Y = 3;
constexpr int TILES_X = 4;
constexpr int OUT_H = TILES_Y * HEIGHT;
constexpr int OUT_W = TILES_X * WIDTH;

// Read each pixel once and write it to its place in every copy.
__global__ void spread_pixels(const float* __restrict__ tile, float* __restrict__ mosaic) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANES * HEIGHT * WIDTH) return;
    const float v = tile[i];
    const int x = i % WIDTH;
    const int y = (i / WIDTH) % HEIGHT;
    float* plane = mosaic + (size_t)(i / (WIDTH * HEIGHT)) * OUT_H * OUT_W;
    for (int ty = 0; ty < TILES_Y; ++ty) {
        const int oy = ty * HEIGHT + ((ty & 1) ? HEIGHT - 1 - y : y);
        for (int tx = 0; tx < TILES_X; ++tx) {
            const int ox = tx * WIDTH + ((tx & 1) ? WIDTH - 1 - x : x);
            plane[oy * OUT_W + ox] = v;
        }
    }
}

int main() {
    const size_t tile_len = (size_t)PLANES * HEIGHT * WIDTH;
    const size_t mosaic_len = (size_t)PLANES * (3 * HEIGHT) * (4 * WIDTH);
    float* h_tile = new float[tile_len];
    float* h_mosaic = new float[mosaic_len];
    read_binary("data/tile.bin", h_tile, tile_len);

    float* d_tile = nullptr;
    cudaMalloc(&d_tile, tile_len * sizeof(float));
    cudaMemcpy(d_tile, h_tile, tile_len * sizeof(float), cudaMemcpyHostToDevice);
    float* d_mosaic = nullptr;
    cudaMalloc(&d_mosaic, mosaic_len * sizeof(float));

    spread_pixels<<<(PLANES * HEIGHT * WIDTH + 255) / 256, 256>>>(d_tile, d_mosaic);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_mosaic, d_mosaic, mosaic_len * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/mosaic.bin", h_mosaic, mosaic_len);

    cudaFree(d_tile);
    cudaFree(d_mosaic);
    delete[] h_tile;
    delete[] h_mosaic;
    return 0;
}
