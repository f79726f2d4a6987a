#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int TILES_Y = 4;
const int TILES_X = 5;
const int SIZE = 24;
const int GHOST = 2;
const int OUTER = SIZE + 2 * GHOST;
const int FIELD_H = TILES_Y * SIZE;
const int FIELD_W = TILES_X * SIZE;

inline void must(cudaError_t status, const char* msg) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(status));
        exit(1);
    }
}

bool read_binary(const char* path, std::vector<float>& v) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return got == v.size();
}

bool write_binary(const char* path, const std::vector<float>& v) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), fp);
    fclose(fp);
    return put == v.size();
}

__global__ void add_ghosts(const float* tiles, float* ghosted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TILES_Y * TILES_X * OUTER * OUTER) return;
    int c = i % OUTER;
    int r = i / OUTER % OUTER;
    int tx = i / (OUTER * OUTER) % TILES_X;
    int ty = i / (OUTER * OUTER * TILES_X);
    // Position in the whole field, wrapped around.
    int y = (ty * SIZE + r - GHOST + FIELD_H) % FIELD_H;
    int x = (tx * SIZE + c - GHOST + FIELD_W) % FIELD_W;
    int tile = y / SIZE * TILES_X + x / SIZE;
    ghosted[i] = tiles[(tile * SIZE + y % SIZE) * SIZE + x % SIZE];
}

int main() {
    const size_t tiles_count = (size_t)TILES_Y * TILES_X * SIZE * SIZE;
    const size_t ghosted_count = (size_t)TILES_Y * TILES_X * (SIZE + 4) * (SIZE + 4);
    std::vector<float> tiles(tiles_count);
    std::vector<float> ghosted(ghosted_count);
    if (!read_binary("data/tiles.bin", tiles)) {
        fprintf(stderr, "cannot read data/tiles.bin\n");
        return 1;
    }

    float* d_tiles = nullptr;
    must(cudaMalloc(&d_tiles, tiles_count * sizeof(float)), "malloc d_tiles");
    must(cudaMemcpy(d_tiles, tiles.data(), tiles_count * sizeof(float), cudaMemcpyHostToDevice), "copy d_tiles");
    float* d_ghosted = nullptr;
    must(cudaMalloc(&d_ghosted, ghosted_count * sizeof(float)), "malloc d_ghosted");

    int cells = TILES_Y * TILES_X * OUTER * OUTER;
    add_ghosts<<<(cells + 255) / 256, 256>>>(d_tiles, d_ghosted);
    must(cudaGetLastError(), "launch");
    must(cudaDeviceSynchronize(), "kernel");
    must(cudaMemcpy(ghosted.data(), d_ghosted, ghosted_count * sizeof(float), cudaMemcpyDeviceToHost),
            "copy ghosted");

    if (!write_binary("data/ghosted.bin", ghosted)) return 1;
    cudaFree(d_tiles);
    cudaFree(d_ghosted);
    return 0;
}
