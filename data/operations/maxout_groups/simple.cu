#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define ROWS 64
#define UNITS 70
#define PIECES 3
#define NUMEL (ROWS * UNITS)

__global__ void maxout(const float* z, float* best, int* piece, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float* group = z + (size_t)i * PIECES;
        float top = group[0];
        int where = 0;
        for (int p = 1; p < PIECES; ++p) {
            if (group[p] > top) {
                top = group[p];
                where = p;
            }
        }
        best[i] = top;
        piece[i] = where;
    }
}

void run(const float* d_z, float* d_best, int* d_piece) {
    int threads = 256;
    int blocks = (NUMEL + threads - 1) / threads;
    maxout<<<blocks, threads>>>(d_z, d_best, d_piece, NUMEL);
}

int main(void) {
    const size_t z_size = ROWS * UNITS * PIECES;
    std::vector<float> h_z(z_size);
    std::vector<float> h_best(NUMEL);
    std::vector<int> h_piece(NUMEL);
    std::ifstream in("data/z.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(h_z.data()), z_size * sizeof(float))) {
        std::cerr << "cannot read data/z.bin" << std::endl;
        return 1;
    }

    float *d_z, *d_best;
    int* d_piece;
    cudaMalloc(&d_z, z_size * sizeof(float));
    cudaMalloc(&d_best, NUMEL * sizeof(float));
    cudaMalloc(&d_piece, NUMEL * sizeof(int));
    cudaMemcpy(d_z, h_z.data(), z_size * sizeof(float), cudaMemcpyHostToDevice);

    run(d_z, d_best, d_piece);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed" << std::endl;
        return 1;
    }
    cudaMemcpy(h_best.data(), d_best, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_piece.data(), d_piece, NUMEL * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out_best("data/best.bin", std::ios::binary);
    out_best.write(reinterpret_cast<const char*>(h_best.data()), NUMEL * sizeof(float));
    std::ofstream out_piece("data/piece.bin", std::ios::binary);
    out_piece.write(reinterpret_cast<const char*>(h_piece.data()), NUMEL * sizeof(int));
    cudaFree(d_z);
    cudaFree(d_best);
    cudaFree(d_piece);
    return 0;
}
