#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int HEIGHT = 50;
static const int WIDTH = 75;
static const int SIDE = 12;

// One thread a block of the mosaic and channel.
__global__ void mosaic_blocks(const uint8_t* picture, uint8_t* mosaic) {
    int bx = blockIdx.x * blockDim.x + threadIdx.x;
    int by = blockIdx.y;
    int c = blockIdx.z;
    int x0 = bx * SIDE, y0 = by * SIDE;
    if (x0 >= WIDTH) return;
    int x1 = min(x0 + SIDE, WIDTH), y1 = min(y0 + SIDE, HEIGHT);
    int sum = 0;
    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) sum += picture[(y * WIDTH + x) * 3 + c];
    }
    int count = (x1 - x0) * (y1 - y0);
    int mean = (2 * sum + count) / (2 * count);
    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) mosaic[(y * WIDTH + x) * 3 + c] = (uint8_t)mean;
    }
}

void solve(const uint8_t* d_picture, uint8_t* d_mosaic) {
    const int across = (WIDTH + SIDE - 1) / SIDE;
    dim3 grid((across + 32 - 1) / 32, (HEIGHT + SIDE - 1) / SIDE, 3);
    mosaic_blocks<<<grid, 32>>>(d_picture, d_mosaic);
}

int main() {
    const size_t numel = (size_t)HEIGHT * WIDTH * 3;
    std::vector<uint8_t> picture(numel);
    std::vector<uint8_t> mosaic(numel);
    if (!std::ifstream("data/picture.bin", std::ios::binary)
             .read((char*)picture.data(), numel * sizeof(uint8_t))) {
        std::cerr << "data/picture.bin is missing or short\n";
        return 1;
    }

    uint8_t *d_picture, *d_mosaic;
    cudaMalloc(&d_picture, numel * sizeof(uint8_t));
    cudaMalloc(&d_mosaic, numel * sizeof(uint8_t));
    cudaMemcpy(d_picture, picture.data(), numel * sizeof(uint8_t), cudaMemcpyHostToDevice);
    solve(d_picture, d_mosaic);
    cudaMemcpy(mosaic.data(), d_mosaic, numel * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/mosaic.bin", std::ios::binary)
        .write((const char*)mosaic.data(), numel * sizeof(uint8_t));
    cudaFree(d_picture);
    cudaFree(d_mosaic);
    return 0;
}
