#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_binary(const std::string& path, T* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(T));
    if (!file) {
        std::cerr << "failed to read " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

template <typename T>
void write_binary(const std::string& path, const T* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(T));
}
//@given

#define ROWS 64
#define UNITS 70
#define PIECES 3
const int UNITS_PER_BLOCK = 128;

// A block copies the responses of its 128 units to shared memory with neighbouring reads, then scans there.
__global__ void maxout_staged(const float* __restrict__ z, float* __restrict__ best, int* __restrict__ piece, int n) {
    __shared__ float tile[UNITS_PER_BLOCK * PIECES];
    const int first = blockIdx.x * UNITS_PER_BLOCK;
    const int here = min(UNITS_PER_BLOCK, n - first);
    const float* src = z + (size_t)first * PIECES;
    for (int i = threadIdx.x; i < here * PIECES; i += UNITS_PER_BLOCK) tile[i] = src[i];
    __syncthreads();
    if (threadIdx.x >= here) return;
    const float* mine = tile + threadIdx.x * PIECES;
    float top = mine[0];
    int where = 0;
    for (int p = 1; p < PIECES; ++p) {
        if (mine[p] > top) { top = mine[p]; where = p; }
    }
    best[first + threadIdx.x] = top;
    piece[first + threadIdx.x] = where;
}

int main(void) {
    const int elements = ROWS * UNITS;
    const size_t z_count = ROWS * UNITS * PIECES;
    float* h_z = new float[z_count];
    float* h_best = new float[elements];
    int* h_piece = new int[elements];
    read_binary("data/z.bin", h_z, z_count);

    float *d_z = nullptr, *d_best = nullptr;
    int* d_piece = nullptr;
    cudaMalloc(&d_z, z_count * sizeof(float));
    cudaMemcpy(d_z, h_z, z_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_best, elements * sizeof(float));
    cudaMalloc(&d_piece, elements * sizeof(int));

    maxout_staged<<<(elements + UNITS_PER_BLOCK - 1) / UNITS_PER_BLOCK, UNITS_PER_BLOCK>>>(d_z, d_best,
            d_piece, elements);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_best, d_best, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_piece, d_piece, elements * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/best.bin", h_best, elements);
    write_binary("data/piece.bin", h_piece, elements);

    cudaFree(d_z);
    cudaFree(d_best);
    cudaFree(d_piece);
    delete[] h_z;
    delete[] h_best;
    delete[] h_piece;
    return 0;
}
