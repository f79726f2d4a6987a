#include <cuda_runtime.h>
#include <cfloat>
#include <fstream>
#include <iostream>
#include <vector>

static const int PLANES = 4;
static const int HEIGHT = 50;
static const int WIDTH = 70;

__global__ void columns_up(const float* __restrict__ vertical, float* __restrict__ corner) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= WIDTH) return;
    const size_t plane = (size_t)blockIdx.y * HEIGHT * WIDTH;
    float best = -FLT_MAX;
    for (int i = HEIGHT - 1; i >= 0; --i) {
        const size_t at = plane + (size_t)i * WIDTH + j;
        best = fmaxf(best, vertical[at]);
        corner[at] = best;
    }
}

// A warp goes through its row from the right in pieces of 32: suffix maxima by shuffles, the rest by a carry.
__global__ void rows_left(const float* __restrict__ horizontal, float* __restrict__ corner) {
    const int line = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (line >= PLANES * HEIGHT) return;
    const size_t base = (size_t)line * WIDTH;
    float carry = -FLT_MAX;
    for (int start = (WIDTH - 1) / 32 * 32; start >= 0; start -= 32) {
        const int j = start + lane;
        float v = j < WIDTH ? horizontal[base + j] : -FLT_MAX;
        for (int s = 1; s < 32; s *= 2) {
            const float right = __shfl_down_sync(0xffffffffu, v, s);
            if (lane + s < 32) v = fmaxf(v, right);
        }
        v = fmaxf(v, carry);
        if (j < WIDTH) corner[base + j] += v;
        carry = __shfl_sync(0xffffffffu, v, 0);
    }
}

void run(const float* d_vertical, const float* d_horizontal, float* d_corner) {
    dim3 grid((WIDTH + 64 - 1) / 64, PLANES);
    columns_up<<<grid, 64>>>(d_vertical, d_corner);
    rows_left<<<(PLANES * HEIGHT + 8 - 1) / 8, 256>>>(d_horizontal, d_corner);
}

int main() {
    const size_t n_total = (size_t)PLANES * HEIGHT * WIDTH;
    std::vector<float> h_vertical(n_total);
    std::vector<float> h_horizontal(n_total);
    std::vector<float> h_corner(n_total);
    std::ifstream in_vertical("data/vertical.bin", std::ios::binary);
    if (!in_vertical.read(reinterpret_cast<char*>(h_vertical.data()), n_total * sizeof(float))) {
        std::cerr << "cannot read data/vertical.bin\n";
        return 1;
    }
    std::ifstream in_horizontal("data/horizontal.bin", std::ios::binary);
    if (!in_horizontal.read(reinterpret_cast<char*>(h_horizontal.data()), n_total * sizeof(float))) {
        std::cerr << "cannot read data/horizontal.bin\n";
        return 1;
    }

    float *d_vertical, *d_horizontal, *d_corner;
    cudaMalloc(&d_vertical, n_total * sizeof(float));
    cudaMalloc(&d_horizontal, n_total * sizeof(float));
    cudaMalloc(&d_corner, n_total * sizeof(float));
    cudaMemcpy(d_vertical, h_vertical.data(), n_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_horizontal, h_horizontal.data(), n_total * sizeof(float), cudaMemcpyHostToDevice);

    run(d_vertical, d_horizontal, d_corner);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_corner.data(), d_corner, n_total * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/corner.bin", std::ios::binary).write(reinterpret_cast<char*>(h_corner.data()),
        n_total * sizeof(float));
    cudaFree(d_vertical);
    cudaFree(d_horizontal);
    cudaFree(d_corner);
    return 0;
}
