#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

#define HEIGHT 50
#define WIDTH 70
#define TILE 16
#define SIDE (TILE + 4)

// The block keeps its tile with a border of two squares in shared memory. The first move also drops blocked starts.
__global__ void knight_tile(const uint8_t* __restrict__ blocked, const uint32_t* __restrict__ from,
                            uint32_t* __restrict__ to, bool first) {
    __shared__ uint32_t s[SIDE][SIDE];
    const int x0 = blockIdx.x * TILE - 2, y0 = blockIdx.y * TILE - 2;
    for (int k = threadIdx.y * TILE + threadIdx.x; k < SIDE * SIDE; k += TILE * TILE) {
        int y = y0 + k / SIDE, x = x0 + k % SIDE;
        uint32_t v = 0;
        if (y >= 0 && y < HEIGHT && x >= 0 && x < WIDTH) {
            int at = y * WIDTH + x;
            v = from[at];
            if (first && blocked[at]) v = 0;
        }
        s[k / SIDE][k % SIDE] = v;
    }
    __syncthreads();
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    const int c = threadIdx.x + 2, r = threadIdx.y + 2;
    uint32_t sum = s[r - 2][c - 1] + s[r - 2][c + 1] + s[r - 1][c - 2] + s[r - 1][c + 2];
    sum += s[r + 1][c - 2] + s[r + 1][c + 2] + s[r + 2][c - 1] + s[r + 2][c + 1];
    to[y * WIDTH + x] = blocked[y * WIDTH + x] ? 0u : sum;
}

int main() {
    const size_t n = (size_t)HEIGHT * WIDTH;
    uint8_t *blocked;
    uint32_t *initial, *walks, *spare;
    cudaMallocManaged(&blocked, n * sizeof(uint8_t));
    cudaMallocManaged(&initial, n * sizeof(uint32_t));
    cudaMallocManaged(&walks, n * sizeof(uint32_t));
    cudaMalloc(&spare, HEIGHT * WIDTH * sizeof(uint32_t));

    FILE* fp = fopen("data/blocked.bin", "rb");
    if (fp == NULL || fread(blocked, sizeof(uint8_t), n, fp) != n) {
        fprintf(stderr, "bad input: data/blocked.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/initial.bin", "rb");
    if (fp == NULL || fread(initial, sizeof(uint32_t), n, fp) != n) {
        fprintf(stderr, "bad input: data/initial.bin\n");
        return 1;
    }
    fclose(fp);

    dim3 block(TILE, TILE);
    dim3 grid((WIDTH + TILE - 1) / TILE, (HEIGHT + TILE - 1) / TILE);
    knight_tile<<<grid, block>>>(blocked, initial, spare, true);
    knight_tile<<<grid, block>>>(blocked, spare, walks, false);
    for (int k = 0; k < 2; ++k) {
        knight_tile<<<grid, block>>>(blocked, walks, spare, false);
        knight_tile<<<grid, block>>>(blocked, spare, walks, false);
    }
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/walks.bin", "wb");
    fwrite(walks, sizeof(uint32_t), n, out);
    fclose(out);
    cudaFree(blocked);
    cudaFree(initial);
    cudaFree(walks);
    cudaFree(spare);
    return 0;
}
