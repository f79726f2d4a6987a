#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 44;
constexpr int COLS = 512;
constexpr int WARPS = 8;

__device__ float warp_total(float v) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// sum (d[c+1] - d[c])^2 = 2 V - d[0]^2 - d[last]^2 - 2 L, so only V and the lagged products L are accumulated.
__global__ void autocorrelation_warp(const float* __restrict__ x, float* __restrict__ rho, float* __restrict__ dw) {
    int r = blockIdx.x * WARPS + threadIdx.y;
    if (r >= ROWS) return;
    const float* row = x + (size_t)r * COLS;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += 32) sum += row[c];
    float m = warp_total(sum) / COLS;
    float v = 0.0f, lag = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += 32) {
        float d = row[c] - m;
        v = fmaf(d, d, v);
        if (c > 0) lag = fmaf(d, row[c - 1] - m, lag);
    }
    v = warp_total(v);
    lag = warp_total(lag);
    if (threadIdx.x == 0) {
        float a = row[0] - m, b = row[COLS - 1] - m;
        rho[r] = lag / v;
        dw[r] = (2.0f * (v - lag) - a * a - b * b) / v;
    }
}

static void solve(const float* d_x, float* d_rho, float* d_dw) {
    dim3 block(32, WARPS);
    autocorrelation_warp<<<(ROWS + WARPS - 1) / WARPS, block>>>(d_x, d_rho, d_dw);
}

int main() {
    std::vector<float> h_x(ROWS * COLS);
    std::vector<float> h_rho(ROWS);
    std::vector<float> h_dw(ROWS);
    FILE* in = fopen("data/x.bin", "rb");
    if (!in || fread(h_x.data(), sizeof(float), ROWS * COLS, in) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in);

    float* d_x = nullptr;
    float* d_rho;
    float* d_dw = nullptr;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_rho, ROWS * sizeof(float));
    cudaMalloc(&d_dw, ROWS * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_x, d_rho, d_dw);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "CUDA failure: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    cudaMemcpy(h_rho.data(), d_rho, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_dw.data(), d_dw, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* out_rho = fopen("data/rho.bin", "wb");
    fwrite(h_rho.data(), sizeof(float), ROWS, out_rho);
    fclose(out_rho);
    FILE* out_dw = fopen("data/dw.bin", "wb");
    fwrite(h_dw.data(), sizeof(float), ROWS, out_dw);
    fclose(out_dw);
    cudaFree(d_x);
    cudaFree(d_rho);
    cudaFree(d_dw);
    return 0;
}
