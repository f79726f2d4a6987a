#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int TILES_Y = 4;
const int TILES_X = 5;
const int SIZE = 24;
const int GHOST = 2;
const int OUTER = SIZE + 2 * GHOST;
const size_t num_tiles = (size_t)TILES_Y * TILES_X * SIZE * SIZE;
const size_t num_ghosted = (size_t)TILES_Y * TILES_X * (SIZE + 4) * (SIZE + 4);

// One block a tile: thread columns run over the outer columns, the neighbor in x is found once for a column.
__global__ void copy_with_ghosts(const float* __restrict__ tiles, float* __restrict__ ghosted) {
    const int tx = blockIdx.x, ty = blockIdx.y;
    float* out = ghosted + (size_t)(ty * TILES_X + tx) * OUTER * OUTER;
    for (int c = threadIdx.x; c < OUTER; c += blockDim.x) {
        int x = c - GHOST, nx = tx;
        if (x < 0) { x += SIZE; nx = tx == 0 ? TILES_X - 1 : tx - 1; }
        else if (x >= SIZE) { x -= SIZE; nx = tx + 1 == TILES_X ? 0 : tx + 1; }
        for (int r = threadIdx.y; r < OUTER; r += blockDim.y) {
            int y = r - GHOST, ny = ty;
            if (y < 0) { y += SIZE; ny = ty == 0 ? TILES_Y - 1 : ty - 1; }
            else if (y >= SIZE) { y -= SIZE; ny = ty + 1 == TILES_Y ? 0 : ty + 1; }
            out[r * OUTER + c] = tiles[((size_t)(ny * TILES_X + nx) * SIZE + y) * SIZE + x];
        }
    }
}

void solve(const float* d_tiles, float* d_ghosted) {
    copy_with_ghosts<<<dim3(TILES_X, TILES_Y), dim3(32, 8)>>>(d_tiles, d_ghosted);
}

int main() {
    std::vector<float> tiles(num_tiles);
    std::vector<float> ghosted(num_ghosted);
    std::ifstream tiles_stream("data/tiles.bin", std::ios::binary);
    if (!tiles_stream.read((char*)tiles.data(), num_tiles * sizeof(float))) {
        std::cerr << "missing data/tiles.bin\n";
        return 1;
    }

    float* d_tiles = nullptr;
    cudaMalloc(&d_tiles, num_tiles * sizeof(float));
    cudaMemcpy(d_tiles, tiles.data(), num_tiles * sizeof(float), cudaMemcpyHostToDevice);
    float* d_ghosted = nullptr;
    cudaMalloc(&d_ghosted, num_ghosted * sizeof(float));

    solve(d_tiles, d_ghosted);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(ghosted.data(), d_ghosted, num_ghosted * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/ghosted.bin", std::ios::binary).write((char*)ghosted.data(), num_ghosted * sizeof(float));
    cudaFree(d_tiles);
    cudaFree(d_ghosted);
    return 0;
}
