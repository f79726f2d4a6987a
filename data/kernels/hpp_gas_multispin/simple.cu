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

// Bit d of a byte: a particle that moves in direction d (east, north, west, south). Bit 4: wall.
enum { EAST = 1, NORTH = 2, WEST = 4, SOUTH = 8, WALL = 16 };

__device__ unsigned char collide(unsigned char cell) {
    if (cell & WALL) return WALL | (cell & 3) << 2 | (cell & 12) >> 2;
    if (cell == (EAST | WEST)) return NORTH | SOUTH;
    if (cell == (NORTH | SOUTH)) return EAST | WEST;
    return cell;
}

__global__ void step(const unsigned char* cells, unsigned char* next, int* flow, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    const size_t row = (size_t)y * width;
    const size_t above = (size_t)((y + height - 1) % height) * width, below = (size_t)((y + 1) % height) * width;
    unsigned char cell = cells[row + x] & WALL;
    cell |= collide(cells[row + (x + width - 1) % width]) & EAST;
    cell |= collide(cells[below + x]) & NORTH;
    cell |= collide(cells[row + (x + 1) % width]) & WEST;
    cell |= collide(cells[above + x]) & SOUTH;
    next[row + x] = cell;
    const int excess = ((cell & EAST) != 0) - ((cell & WEST) != 0);
    if (excess != 0) atomicAdd(flow, excess);
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

    const int width = 32 * words;
    const size_t area = (size_t)height * width;
    std::vector<unsigned char> cells(area);
    for (size_t k = 0; k < area; ++k) {
        const size_t at = k / 32;  // rows are whole words
        const int bit = (int)(k % 32);
        for (int d = 0; d < 4; ++d) cells[k] |= (gas[d * plane + at] >> bit & 1u) << d;
        cells[k] |= (wall[at] >> bit & 1u) << 4;
    }
    unsigned char* dCells[2];
    int* dFlow;
    CUDA_OK(cudaMalloc(&dCells[0], area));
    CUDA_OK(cudaMalloc(&dCells[1], area));
    CUDA_OK(cudaMalloc(&dFlow, steps * sizeof(int)));
    CUDA_OK(cudaMemcpy(dCells[0], cells.data(), area, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(dFlow, 0, steps * sizeof(int)));
    const dim3 grid((width + 127) / 128, height);
    for (int t = 0; t < steps; ++t) {
        step<<<grid, 128>>>(dCells[t % 2], dCells[(t + 1) % 2], dFlow + t, height, width);
        CUDA_OK(cudaGetLastError());
    }
    CUDA_OK(cudaMemcpy(cells.data(), dCells[steps % 2], area, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(flow.data(), dFlow, steps * sizeof(int), cudaMemcpyDeviceToHost));
    for (size_t word = 0; word < 4 * plane; ++word) gas[word] = 0;
    for (size_t k = 0; k < area; ++k) {
        for (int d = 0; d < 4; ++d) gas[d * plane + k / 32] |= (u32)(cells[k] >> d & 1) << (k % 32);
    }
    writeWords("data/final.bin", gas.data(), 4 * plane);
    writeWords("data/flow.bin", flow.data(), steps);
    CUDA_OK(cudaFree(dCells[0]));
    CUDA_OK(cudaFree(dCells[1]));
    CUDA_OK(cudaFree(dFlow));
    return 0;
}
