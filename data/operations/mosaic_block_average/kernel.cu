#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void fetch(const std::string& path, uint8_t* buf, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(buf), count * sizeof(uint8_t));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void dump(const std::string& path, const uint8_t* buf, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buf), count * sizeof(uint8_t));
}
//@given

const int HEIGHT = 50;
const int WIDTH = 75;
const int SIDE = 12;
const int GROUP = 8;
const int SPAN = SIDE * GROUP * 3;

// A thread block takes GROUP neighbouring mosaic blocks; threads walk along the bytes of the rows.
__global__ void mosaic_strip(const uint8_t* __restrict__ picture, uint8_t* __restrict__ mosaic) {
    __shared__ int sums[GROUP * 3];
    __shared__ uint8_t means[GROUP * 3];
    const int t = threadIdx.x;
    const int byte0 = blockIdx.x * SPAN, y0 = blockIdx.y * SIDE;
    const int y1 = min(y0 + SIDE, HEIGHT);
    const int byte = byte0 + t;
    const bool inside = byte < WIDTH * 3;
    const int slot = t / (3 * SIDE) * 3 + t % 3;
    if (t < GROUP * 3) sums[t] = 0;
    __syncthreads();
    if (inside) {
        int column = 0;
        for (int y = y0; y < y1; ++y) column += picture[(size_t)y * WIDTH * 3 + byte];
        atomicAdd(&sums[slot], column);
    }
    __syncthreads();
    if (t < GROUP * 3) {
        int x0 = byte0 / 3 + t / 3 * SIDE;
        int count = (min(x0 + SIDE, WIDTH) - x0) * (y1 - y0);
        if (count > 0) means[t] = (uint8_t)((2 * sums[t] + count) / (2 * count));
    }
    __syncthreads();
    if (!inside) return;
    for (int y = y0; y < y1; ++y) mosaic[(size_t)y * WIDTH * 3 + byte] = means[slot];
}

int main() {
    const size_t n = (size_t)HEIGHT * WIDTH * 3;
    uint8_t* h_picture = new uint8_t[n];
    uint8_t* h_mosaic = new uint8_t[n];
    fetch("data/picture.bin", h_picture, n);

    uint8_t* d_picture;
    cudaMalloc(&d_picture, n * sizeof(uint8_t));
    uint8_t* d_mosaic;
    cudaMalloc(&d_mosaic, n * sizeof(uint8_t));
    cudaMemcpy(d_picture, h_picture, n * sizeof(uint8_t), cudaMemcpyHostToDevice);

    dim3 grid((WIDTH * 3 + SPAN - 1) / SPAN, (HEIGHT + SIDE - 1) / SIDE);
    mosaic_strip<<<grid, SPAN>>>(d_picture, d_mosaic);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_mosaic, d_mosaic, n * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    dump("data/mosaic.bin", h_mosaic, n);

    delete[] h_picture;
    delete[] h_mosaic;
    cudaFree(d_picture);
    cudaFree(d_mosaic);
    return 0;
}
