#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void load(const char* name, void* data, size_t size) {
    FILE* file = fopen(name, "rb");
    if (!file || fread(data, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    fclose(file);
}

static void save(const char* name, const void* data, size_t size) {
    FILE* file = fopen(name, "wb");
    if (!file || fwrite(data, 1, size, file) != size) {
        fprintf(stderr, "cannot write %s\n", name);
        exit(1);
    }
    fclose(file);
}
//@given

const int BATCH = 7;
const int SIDE = 50;
const int TILE = 32;

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The tile is read along rows of the input and written along rows of the output, whatever the turn.
__global__ void rotate_tiles(const float* __restrict__ images, const int* __restrict__ turns,
                             float* __restrict__ rotated) {
    __shared__ float tile[TILE][TILE + 1];
    const float* src = images + (size_t)blockIdx.z * SIDE * SIDE;
    float* dst = rotated + (size_t)blockIdx.z * SIDE * SIDE;
    const int k = turns[blockIdx.z] & 3;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    for (int dy = threadIdx.y; dy < TILE; dy += blockDim.y) {
        const int y = y0 + dy, x = x0 + threadIdx.x;
        if (y < SIDE && x < SIDE) tile[dy][threadIdx.x] = src[y * SIDE + x];
    }
    __syncthreads();
    for (int d = threadIdx.y; d < TILE; d += blockDim.y) {
        const bool odd = k & 1;
        const int dy = odd ? threadIdx.x : d;
        const int dx = odd ? d : threadIdx.x;
        const int y = y0 + dy, x = x0 + dx;
        if (y >= SIDE || x >= SIDE) continue;
        int r = y, c = x;
        if (k == 1) { r = SIDE - 1 - x; c = y; }
        else if (k == 2) { r = SIDE - 1 - y; c = SIDE - 1 - x; }
        else if (k == 3) { r = x; c = SIDE - 1 - y; }
        dst[r * SIDE + c] = tile[dy][dx];
    }
}

int main() {
    const size_t count = (size_t)BATCH * SIDE * SIDE;
    float* h_images = (float*)malloc(count * sizeof(float));
    int* h_turns = (int*)malloc(BATCH * sizeof(int));
    float* h_rotated = (float*)malloc(count * sizeof(float));
    load("data/images.bin", h_images, count * sizeof(float));
    load("data/turns.bin", h_turns, BATCH * sizeof(int));

    float* d_images = nullptr;
    cudaMalloc(&d_images, count * sizeof(float));
    cudaMemcpy(d_images, h_images, count * sizeof(float), cudaMemcpyHostToDevice);
    int* d_turns = nullptr;
    cudaMalloc(&d_turns, BATCH * sizeof(int));
    cudaMemcpy(d_turns, h_turns, BATCH * sizeof(int), cudaMemcpyHostToDevice);
    float* d_rotated = nullptr;
    cudaMalloc(&d_rotated, count * sizeof(float));

    const int tiles = ceil_div(SIDE, TILE);
    rotate_tiles<<<dim3(tiles, tiles, BATCH), dim3(TILE, 8)>>>(d_images, d_turns, d_rotated);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        return 1;
    }
    cudaMemcpy(h_rotated, d_rotated, count * sizeof(float), cudaMemcpyDeviceToHost);

    save("data/rotated.bin", h_rotated, count * sizeof(float));
    cudaFree(d_images);
    cudaFree(d_turns);
    cudaFree(d_rotated);
    free(h_images);
    free(h_turns);
    free(h_rotated);
    return 0;
}
