#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int BATCH = 3;
const int N = 65;
const int TILE = 32;

// A block reads a tile and its mirror image once and writes both places of both results.
__global__ void split_tile_pairs(const float* __restrict__ a, float* __restrict__ sym, float* __restrict__ skew) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ float upper[TILE][TILE + 1], lower[TILE][TILE + 1];
    const int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;
    const int base = blockIdx.z * N * N;
    const int tx = threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += 8) {
        if (i0 + r < N && j0 + tx < N) upper[r][tx] = a[base + (i0 + r) * N + j0 + tx];
        if (j0 + r < N && i0 + tx < N) lower[r][tx] = a[base + (j0 + r) * N + i0 + tx];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < TILE; r += 8) {
        if (i0 + r < N && j0 + tx < N) {
            const int at = base + (i0 + r) * N + j0 + tx;
            sym[at] = 0.5f * (upper[r][tx] + lower[tx][r]);
            skew[at] = 0.5f * (upper[r][tx] - lower[tx][r]);
        }
        if (i0 != j0 && j0 + r < N && i0 + tx < N) {
            const int at = base + (j0 + r) * N + i0 + tx;
            sym[at] = 0.5f * (lower[r][tx] + upper[tx][r]);
            skew[at] = 0.5f * (lower[r][tx] - upper[tx][r]);
        }
    }
}

void launch(const float* d_a, float* d_sym, float* d_skew) {
    const int tiles = (N + TILE - 1) / TILE;
    split_tile_pairs<<<dim3(tiles, tiles, BATCH), dim3(TILE, 8)>>>(d_a, d_sym, d_skew);
}

int main() {
    const size_t n_a = (size_t)BATCH * N * N;
    std::vector<float> host_a(n_a);
    std::vector<float> host_sym(n_a);
    std::vector<float> host_skew(n_a);
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(host_a.data()), n_a * sizeof(float))) {
        std::cerr << "data/a.bin is missing or short\n";
        return 1;
    }

    float *d_a, *d_sym, *d_skew;
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_sym, n_a * sizeof(float));
    cudaMalloc(&d_skew, n_a * sizeof(float));
    cudaMemcpy(d_a, host_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    launch(d_a, d_sym, d_skew);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }
    cudaMemcpy(host_sym.data(), d_sym, n_a * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_skew.data(), d_skew, n_a * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream sym_out("data/sym.bin", std::ios::binary);
    sym_out.write(reinterpret_cast<const char*>(host_sym.data()), n_a * sizeof(float));
    std::ofstream skew_out("data/skew.bin", std::ios::binary);
    skew_out.write(reinterpret_cast<const char*>(host_skew.data()), n_a * sizeof(float));
    cudaFree(d_a);
    cudaFree(d_sym);
    cudaFree(d_skew);
    return 0;
}
