#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define CUDA_OK(call)                                                                  \
    do {                                                                               \
        cudaError_t result = (call);                                                   \
        if (result != cudaSuccess) {                                                   \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(result));    \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

typedef unsigned int u32;

// The four directions of 32 cells.
struct Cells {
    u32 east, north, west, south;
};

// What leaves the 32 cells of a word after collisions and reflections.
__device__ Cells collide(const u32* __restrict__ gas, const u32* __restrict__ wall, size_t plane, size_t at) {
    const u32 e = gas[at], n = gas[plane + at], w = gas[2 * plane + at], s = gas[3 * plane + at], solid = wall[at];
    const u32 headOn = ~solid & ((e & w & ~n & ~s) | (n & s & ~e & ~w));
    Cells out;
    out.east = (solid & w) | (~solid & (e ^ headOn));
    out.north = (solid & s) | (~solid & (n ^ headOn));
    out.west = (solid & e) | (~solid & (w ^ headOn));
    out.south = (solid & n) | (~solid & (s ^ headOn));
    return out;
}

__global__ void step(const u32* __restrict__ gas, const u32* __restrict__ wall, u32* __restrict__ next, int* flow,
                     int height, int words) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int excess = 0;
    if (x < words && y < height) {
        const size_t plane = (size_t)height * words, row = (size_t)y * words, here = row + x;
        const Cells own = collide(gas, wall, plane, here);
        const Cells left = collide(gas, wall, plane, row + (x == 0 ? words - 1 : x - 1));
        const Cells right = collide(gas, wall, plane, row + (x == words - 1 ? 0 : x + 1));
        const Cells above = collide(gas, wall, plane, (size_t)(y == 0 ? height - 1 : y - 1) * words + x);
        const Cells below = collide(gas, wall, plane, (size_t)(y == height - 1 ? 0 : y + 1) * words + x);
        const u32 east = __funnelshift_l(left.east, own.east, 1);
        const u32 west = __funnelshift_r(own.west, right.west, 1);
        next[here] = east;
        next[plane + here] = below.north;
        next[2 * plane + here] = west;
        next[3 * plane + here] = above.south;
        excess = __popc(east) - __popc(west);
    }
    excess = __reduce_add_sync(0xffffffffu, excess);  // a warp is a row of the block
    if (threadIdx.x == 0 && excess != 0) atomicAdd(flow, excess);
}

static void readWords(const char* path, void* into, size_t count) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fread(into, 4, count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values of 4 bytes\n", path, count);
        exit(1);
    }
    fclose(file);
}

static void writeWords(const char* path, const void* from, size_t count) {
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(from, 4, count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
}

int main() {
    int sizes[3];
    readWords("data/sizes.bin", sizes, 3);
    const int height = sizes[0], words = sizes[1], steps = sizes[2];
    if (height < 1 || height > 16384 || words < 1 || words > 512 || steps < 1 || steps > 200) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t plane = (size_t)height * words;
    std::vector<u32> wall(plane), gas(4 * plane);
    std::vector<int> flow(steps);
    readWords("data/wall.bin", wall.data(), plane);
    readWords("data/gas.bin", gas.data(), 4 * plane);

    u32 *dWall, *dGas[2];
    int* dFlow;
    CUDA_OK(cudaMalloc(&dWall, plane * sizeof(u32)));
    CUDA_OK(cudaMalloc(&dGas[0], 4 * plane * sizeof(u32)));
    CUDA_OK(cudaMalloc(&dGas[1], 4 * plane * sizeof(u32)));
    CUDA_OK(cudaMalloc(&dFlow, steps * sizeof(int)));
    CUDA_OK(cudaMemcpy(dWall, wall.data(), plane * sizeof(u32), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dGas[0], gas.data(), 4 * plane * sizeof(u32), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(dFlow, 0, steps * sizeof(int)));
    const dim3 block(32, 8), grid((words + 31) / 32, (height + 7) / 8);
    for (int t = 0; t < steps; ++t) {
        step<<<grid, block>>>(dGas[t % 2], dWall, dGas[(t + 1) % 2], dFlow + t, height, words);
        CUDA_OK(cudaGetLastError());
    }
    CUDA_OK(cudaMemcpy(gas.data(), dGas[steps % 2], 4 * plane * sizeof(u32), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(flow.data(), dFlow, steps * sizeof(int), cudaMemcpyDeviceToHost));
    writeWords("data/final.bin", gas.data(), 4 * plane);
    writeWords("data/flow.bin", flow.data(), steps);
    CUDA_OK(cudaFree(dWall));
    CUDA_OK(cudaFree(dGas[0]));
    CUDA_OK(cudaFree(dGas[1]));
    CUDA_OK(cudaFree(dFlow));
    return 0;
}
