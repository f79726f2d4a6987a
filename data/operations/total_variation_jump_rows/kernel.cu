#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 40;
constexpr int COLS = 500;
constexpr int WARPS = 8;

// A warp reads 32 neighbouring values at a time and gets the left neighbour by a shuffle.
__global__ void variation_and_jump(const float* __restrict__ x, float* variation, float* jump, int* at) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    const float* row = x + (size_t)r * COLS;
    float carry = row[0];
    float sum = 0.0f, best = 0.0f;
    int where = COLS;
    for (int base = 1; base < COLS; base += 32) {
        int c = base + lane;
        float v = c < COLS ? row[c] : 0.0f;
        float left = __shfl_up_sync(0xffffffffu, v, 1);
        if (lane == 0) left = carry;
        carry = __shfl_sync(0xffffffffu, v, 31);
        if (c < COLS) {
            float d = v - left;
            sum += fabsf(d);
            if (where == COLS || fabsf(d) > fabsf(best)) {
                best = d;
                where = c - 1;
            }
        }
    }
    for (int s = 16; s > 0; s /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, s);
        float d = __shfl_down_sync(0xffffffffu, best, s);
        int c = __shfl_down_sync(0xffffffffu, where, s);
        if (fabsf(d) > fabsf(best) || (fabsf(d) == fabsf(best) && c < where)) {
            best = d;
            where = c;
        }
    }
    if (lane == 0) {
        variation[r] = sum;
        jump[r] = best;
        at[r] = where;
    }
}

static void run(const float* d_x, float* d_variation, float* d_jump, int* d_at) {
    variation_and_jump<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(d_x, d_variation, d_jump, d_at);
}

int main() {
    std::vector<float> host_x(ROWS * COLS);
    std::vector<float> host_variation(ROWS);
    std::vector<float> host_jump(ROWS);
    std::vector<int> host_at(ROWS);
    std::ifstream in("data/x.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(host_x.data()), ROWS * COLS * sizeof(float))) {
        std::cerr << "no data/x.bin\n";
        return 1;
    }

    float *d_x, *d_variation, *d_jump;
    int* d_at = nullptr;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_variation, ROWS * sizeof(float));
    cudaMalloc(&d_jump, ROWS * sizeof(float));
    cudaMalloc(&d_at, ROWS * sizeof(int));
    cudaMemcpy(d_x, host_x.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

    run(d_x, d_variation, d_jump, d_at);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(host_variation.data(), d_variation, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_jump.data(), d_jump, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_at.data(), d_at, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_variation("data/variation.bin", std::ios::binary);
    out_variation.write(reinterpret_cast<const char*>(host_variation.data()), ROWS * sizeof(float));
    std::ofstream out_jump("data/jump.bin", std::ios::binary);
    out_jump.write(reinterpret_cast<const char*>(host_jump.data()), ROWS * sizeof(float));
    std::ofstream out_at("data/at.bin", std::ios::binary);
    out_at.write(reinterpret_cast<const char*>(host_at.data()), ROWS * sizeof(int));
    cudaFree(d_x);
    cudaFree(d_variation);
    cudaFree(d_jump);
    cudaFree(d_at);
    return 0;
}
