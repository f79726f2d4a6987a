#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, int* buf, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(buf), count * sizeof(int));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void save_array(const std::string& path, const float* buf, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(buf), count * sizeof(float));
}
//@given

const int TABLES = 300;
const int LEVELS_A = 4;
const int LEVELS_B = 6;
const int CELLS = LEVELS_A * LEVELS_B;
const int WARPS = 4;
const int SMALLER = LEVELS_A < LEVELS_B ? LEVELS_A : LEVELS_B;

// A warp works on one table in shared memory; lanes first take the row and column sums, then the cells.
__global__ void chi_square_warp(const int* __restrict__ observed, float* __restrict__ chi_square,
                                float* __restrict__ cramer_v) {
    __shared__ int cells[WARPS][CELLS];
    __shared__ int sums[WARPS][LEVELS_A + LEVELS_B];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int table = blockIdx.x * WARPS + warp;
    const bool active = table < TABLES;
    int n = 0;
    for (int k = lane; active && k < CELLS; k += 32) {
        const int v = observed[(size_t)table * CELLS + k];
        cells[warp][k] = v;
        n += v;
    }
    for (int s = 16; s > 0; s >>= 1) n += __shfl_xor_sync(0xffffffffu, n, s);
    __syncthreads();
    for (int k = lane; active && k < LEVELS_A + LEVELS_B; k += 32) {
        int sum = 0;
        if (k < LEVELS_A) {
            for (int j = 0; j < LEVELS_B; ++j) sum += cells[warp][k * LEVELS_B + j];
        } else {
            for (int i = 0; i < LEVELS_A; ++i) sum += cells[warp][i * LEVELS_B + k - LEVELS_A];
        }
        sums[warp][k] = sum;
    }
    __syncthreads();
    float chi = 0.0f;
    for (int k = lane; active && k < CELLS; k += 32) {
        const float product = (float)sums[warp][k / LEVELS_B] * (float)sums[warp][LEVELS_A + k % LEVELS_B];
        if (product > 0.0f) {
            const float e = product / (float)n;
            const float d = (float)cells[warp][k] - e;
            chi += d * d / e;
        }
    }
    for (int s = 16; s > 0; s >>= 1) chi += __shfl_xor_sync(0xffffffffu, chi, s);
    if (active && lane == 0) {
        chi_square[table] = chi;
        cramer_v[table] = n > 0 ? sqrtf(chi / ((float)n * (float)(SMALLER - 1))) : 0.0f;
    }
}

int main() {
    const size_t numel = TABLES * LEVELS_A * LEVELS_B;
    int* h_observed = new int[numel];
    float* h_chi_square = new float[TABLES];
    float* h_cramer_v = new float[TABLES];
    load_array("data/observed.bin", h_observed, numel);

    int* d_observed;
    cudaMalloc(&d_observed, numel * sizeof(int));
    float* d_chi_square;
    cudaMalloc(&d_chi_square, TABLES * sizeof(float));
    float* d_cramer_v;
    cudaMalloc(&d_cramer_v, TABLES * sizeof(float));
    cudaMemcpy(d_observed, h_observed, numel * sizeof(int), cudaMemcpyHostToDevice);

    chi_square_warp<<<(TABLES + WARPS - 1) / WARPS, WARPS * 32>>>(d_observed, d_chi_square, d_cramer_v);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_chi_square, d_chi_square, TABLES * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/chi_square.bin", h_chi_square, TABLES);
    cudaMemcpy(h_cramer_v, d_cramer_v, TABLES * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/cramer_v.bin", h_cramer_v, TABLES);

    delete[] h_observed;
    delete[] h_chi_square;
    delete[] h_cramer_v;
    cudaFree(d_observed);
    cudaFree(d_chi_square);
    cudaFree(d_cramer_v);
    return 0;
}
