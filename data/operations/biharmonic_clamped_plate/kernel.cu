#include <cstdio>
#include <cuda_runtime.h>

const int ROWS = 120;
const int COLS = 200;

constexpr int BW = 32;
constexpr int BH = 16;

// Tile with two border cells on each side, filled with clamped indices.
__global__ void biharmonic_tile(const float* __restrict__ p, float* __restrict__ out) {
    __shared__ float s[BH + 4][BW + 4];
    const int tid = threadIdx.y * BW + threadIdx.x;
    for (int k = tid; k < (BH + 4) * (BW + 4); k += BW * BH) {
        int r = (int)(blockIdx.y * BH) + k / (BW + 4) - 2;
        int c = (int)(blockIdx.x * BW) + k % (BW + 4) - 2;
        r = max(0, min(r, ROWS - 1));
        c = max(0, min(c, COLS - 1));
        s[k / (BW + 4)][k % (BW + 4)] = p[(size_t)r * COLS + c];
    }
    __syncthreads();
    const int c = blockIdx.x * BW + threadIdx.x, r = blockIdx.y * BH + threadIdx.y;
    if (r >= ROWS || c >= COLS) return;
    const int y = threadIdx.y + 2, x = threadIdx.x + 2;
    float v = 20.0f * s[y][x];
    v -= 8.0f * (s[y - 1][x] + s[y + 1][x] + s[y][x - 1] + s[y][x + 1]);
    v += 2.0f * (s[y - 1][x - 1] + s[y - 1][x + 1] + s[y + 1][x - 1] + s[y + 1][x + 1]);
    v += s[y - 2][x] + s[y + 2][x] + s[y][x - 2] + s[y][x + 2];
    out[(size_t)r * COLS + c] = v;
}

int main() {
    const int total = ROWS * COLS;
    float *plate, *bending;
    cudaMallocManaged(&plate, total * sizeof(float));
    cudaMallocManaged(&bending, total * sizeof(float));

    FILE* f = fopen("data/plate.bin", "rb");
    if (!f || fread(plate, sizeof(float), total, f) != (size_t)total) {
        fprintf(stderr, "data/plate.bin?\n");
        return 1;
    }
    fclose(f);

    dim3 block(BW, BH);
    dim3 grid((COLS + BW - 1) / BW, (ROWS + BH - 1) / BH);
    biharmonic_tile<<<grid, block>>>(plate, bending);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    FILE* o0 = fopen("data/bending.bin", "wb");
    fwrite(bending, sizeof(float), total, o0);
    fclose(o0);
    cudaFree(plate);
    cudaFree(bending);
    return 0;
}
