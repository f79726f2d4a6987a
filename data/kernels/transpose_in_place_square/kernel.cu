#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define TILE 32
#define THREAD_ROWS 8
#define MAX_N 16384

typedef float Tile[TILE][TILE + 1];

__device__ void loadTile(Tile tile, const float* matrix, int row0, int col0, int n) {
    const int col = col0 + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += THREAD_ROWS) {
        if (row0 + r < n && col < n) tile[r][threadIdx.x] = matrix[(size_t)(row0 + r) * n + col];
    }
}

__device__ void storeTransposed(const Tile tile, float* matrix, int row0, int col0, int n) {
    const int col = col0 + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += THREAD_ROWS) {
        if (row0 + r < n && col < n) matrix[(size_t)(row0 + r) * n + col] = tile[threadIdx.x][r];
    }
}

__global__ void transposeInPlace(float* matrix, int n) {
    __shared__ Tile upper, lower;
    if (blockIdx.x < blockIdx.y) return;  // the mirror block moves this tile
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    const bool diagonal = blockIdx.x == blockIdx.y;

    loadTile(upper, matrix, row0, col0, n);
    if (!diagonal) loadTile(lower, matrix, col0, row0, n);
    __syncthreads();
    storeTransposed(upper, matrix, col0, row0, n);
    if (!diagonal) storeTransposed(lower, matrix, row0, col0, n);
}

static int failed(const char* where, const char* why) {
    fprintf(stderr, "%s: %s\n", where, why);
    return EXIT_FAILURE;
}

static bool readWhole(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    const bool exact = fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    return exact;
}

static bool writeWhole(const char* path, const void* source, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file) return false;
    const bool complete = fwrite(source, 1, bytes, file) == bytes;
    return fclose(file) == 0 && complete;
}

static cudaError_t transposeOnDevice(float* host, int n) {
    const size_t bytes = (size_t)n * n * sizeof(float);
    float* device = nullptr;
    cudaError_t status = cudaMalloc(&device, bytes);
    if (status != cudaSuccess) return status;
    status = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        const int tiles = (n + TILE - 1) / TILE;
        transposeInPlace<<<dim3(tiles, tiles), dim3(TILE, THREAD_ROWS)>>>(device, n);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    const cudaError_t released = cudaFree(device);
    return status != cudaSuccess ? status : released;
}

int main() {
    int n = 0;
    if (!readWhole("data/sizes.bin", &n, sizeof(n))) return failed("data/sizes.bin", "expected one int32");
    if (n < 1 || n > MAX_N) return failed("data/sizes.bin", "n is not in 1..16384");

    std::vector<float> matrix((size_t)n * n);
    const size_t bytes = matrix.size() * sizeof(float);
    if (!readWhole("data/matrix.bin", matrix.data(), bytes)) return failed("data/matrix.bin", "expected n * n floats");

    const cudaError_t status = transposeOnDevice(matrix.data(), n);
    if (status != cudaSuccess) return failed("CUDA", cudaGetErrorString(status));

    if (!writeWhole("data/transposed.bin", matrix.data(), bytes)) return failed("data/transposed.bin", "write error");
    return EXIT_SUCCESS;
}
