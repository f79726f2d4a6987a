#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CUDA(call)                                                                        \
    do {                                                                                  \
        const cudaError_t status = (call);                                                \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

struct Colour {
    unsigned r, g, b;
    __device__ explicit Colour(unsigned c) {
        r = c >> 11 & 31;
        g = c >> 5 & 63;
        b = c & 31;
        r = r << 3 | r >> 2;
        g = g << 2 | g >> 4;
        b = b << 3 | b >> 2;
    }
};

__device__ unsigned pack(unsigned r, unsigned g, unsigned b) { return r | g << 8 | b << 16 | 0xFF000000u; }

__global__ void decode(const uint2* __restrict__ blocks, uint4* __restrict__ texels, int blockRows, int blockCols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= blockCols) return;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < 4 * blockRows; y += gridDim.y * blockDim.y) {
        const uint2 block = blocks[static_cast<size_t>(y / 4) * blockCols + col];
        const unsigned c0 = block.x & 0xFFFF, c1 = block.x >> 16;
        const Colour a(c0), b(c1);
        unsigned palette2, palette3 = 0;
        if (c0 > c1) {
            palette2 = pack((2 * a.r + b.r + 1) / 3, (2 * a.g + b.g + 1) / 3, (2 * a.b + b.b + 1) / 3);
            palette3 = pack((a.r + 2 * b.r + 1) / 3, (a.g + 2 * b.g + 1) / 3, (a.b + 2 * b.b + 1) / 3);
        } else {
            palette2 = pack((a.r + b.r) / 2, (a.g + b.g) / 2, (a.b + b.b) / 2);
        }
        const unsigned palette0 = pack(a.r, a.g, a.b), palette1 = pack(b.r, b.g, b.b);
        const unsigned codes = block.y >> 8 * (y % 4);
        auto select = [&](int x) {  // two selections, no indexed array: all stays in registers
            const unsigned low = codes >> 2 * x & 1 ? palette1 : palette0;
            const unsigned high = codes >> 2 * x & 1 ? palette3 : palette2;
            return codes >> (2 * x + 1) & 1 ? high : low;
        };
        texels[static_cast<size_t>(y) * blockCols + col] = make_uint4(select(0), select(1), select(2), select(3));
    }
}

static void readInto(const char* path, void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(data, 1, bytes, file) != bytes || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        std::exit(1);
    }
    std::fclose(file);
}

int main() {
    int sizes[2];
    readInto("data/sizes.bin", sizes, sizeof sizes);
    const int rows = sizes[0], cols = sizes[1];
    if (std::min(rows, cols) < 1 || std::max(rows, cols) > 4096) {
        std::fprintf(stderr, "data/sizes.bin: %d x %d blocks\n", rows, cols);
        return 1;
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    uint2 *hostBlocks, *blocks;
    uint4 *hostTexels, *texels;  // four per block
    CUDA(cudaMallocHost(&hostBlocks, count * sizeof(uint2)));
    CUDA(cudaMallocHost(&hostTexels, 4 * count * sizeof(uint4)));
    CUDA(cudaMalloc(&blocks, count * sizeof(uint2)));
    CUDA(cudaMalloc(&texels, 4 * count * sizeof(uint4)));
    readInto("data/blocks.bin", hostBlocks, count * sizeof(uint2));

    cudaStream_t streams[2];
    const int starts[3] = {0, rows / 2, rows};
    for (int half = 0; half < 2; ++half) {
        CUDA(cudaStreamCreate(&streams[half]));
        const int part = starts[half + 1] - starts[half];
        if (part == 0) continue;
        const size_t first = static_cast<size_t>(starts[half]) * cols, inside = static_cast<size_t>(part) * cols;
        CUDA(cudaMemcpyAsync(blocks + first, hostBlocks + first, inside * sizeof(uint2), cudaMemcpyHostToDevice,
                             streams[half]));
        const dim3 threads(32, 8), grid((cols + 31) / 32, std::min((4 * part + 7) / 8, 1024));
        decode<<<grid, threads, 0, streams[half]>>>(blocks + first, texels + 4 * first, part, cols);
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpyAsync(hostTexels + 4 * first, texels + 4 * first, 4 * inside * sizeof(uint4),
                             cudaMemcpyDeviceToHost, streams[half]));
    }
    for (cudaStream_t stream : streams) {
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaStreamDestroy(stream));
    }

    std::FILE* out = std::fopen("data/texels.bin", "wb");
    if (!out || std::fwrite(hostTexels, sizeof(uint4), 4 * count, out) != 4 * count || std::fclose(out) != 0) {
        std::fprintf(stderr, "data/texels.bin: cannot be written\n");
        return 1;
    }
    CUDA(cudaFreeHost(hostBlocks));
    CUDA(cudaFreeHost(hostTexels));
    CUDA(cudaFree(blocks));
    CUDA(cudaFree(texels));
    return 0;
}
