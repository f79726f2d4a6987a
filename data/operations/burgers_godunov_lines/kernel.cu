#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int LINES = 25;
const int CELLS = 400;
const int STEPS = 8;

constexpr int TILE = 256;
constexpr int SPAN = TILE + 2 * STEPS;

__device__ float flux(float a, float b) {
    float p = fmaxf(a, 0.0f), m = fminf(b, 0.0f);
    return 0.5f * fmaxf(p * p, m * m);
}

// A block loads its cells and as many neighbours on either side as there are steps; all steps run in shared memory,
// and only the outer neighbours become wrong on the way.
__global__ void burgers_tile(const float* start, float* result) {
    __shared__ float u[2][SPAN];
    const float* row = start + (size_t)blockIdx.y * CELLS;
    const int first = blockIdx.x * TILE - STEPS;
    for (int k = threadIdx.x; k < SPAN; k += blockDim.x) {
        int g = first + k;
        u[0][k] = g >= 0 && g < CELLS ? row[g] : 0.0f;
    }
    __syncthreads();
    int now = 0;
    for (int s = 0; s < STEPS; ++s) {
        for (int k = threadIdx.x; k < SPAN; k += blockDim.x) {
            int g = first + k;
            float c = u[now][k];
            float l = k == 0 || g <= 0 ? c : u[now][k - 1];
            float r = k == SPAN - 1 || g >= CELLS - 1 ? c : u[now][k + 1];
            u[1 - now][k] = c - 0.3f * (flux(c, r) - flux(l, c));
        }
        __syncthreads();
        now = 1 - now;
    }
    int g = blockIdx.x * TILE + threadIdx.x;
    if (g < CELLS) result[(size_t)blockIdx.y * CELLS + g] = u[now][threadIdx.x + STEPS];
}

int main() {
    const int n = LINES * CELLS;
    std::vector<float> h_start(n);
    std::vector<float> h_final_state(n);
    std::ifstream in("data/start.bin", std::ios::binary);
    in.read((char*)h_start.data(), h_start.size() * sizeof(float));
    if (!in) {
        std::cerr << "cannot read data/start.bin\n";
        return 1;
    }

    float* d_start;
    float* d_final_state;
    cudaMalloc(&d_start, n * sizeof(float));
    cudaMalloc(&d_final_state, n * sizeof(float));
    cudaMemcpy(d_start, h_start.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((CELLS + TILE - 1) / TILE, LINES);
    burgers_tile<<<grid, TILE>>>(d_start, d_final_state);

    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << "kernel: " << cudaGetErrorString(result) << std::endl;
        return 1;
    }

    cudaMemcpy(h_final_state.data(), d_final_state, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/final_state.bin", std::ios::binary);
    out.write((const char*)h_final_state.data(), h_final_state.size() * sizeof(float));
    cudaFree(d_start);
    cudaFree(d_final_state);
    return 0;
}
