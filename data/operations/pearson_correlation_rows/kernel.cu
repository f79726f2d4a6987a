#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

static const int ROWS = 24;
static const int COLS = 600;
static const int WARPS = 4;

__device__ float warp_sum(float v) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// One pass: the first element of each row serves as a shift, which keeps the sums of squares small.
__global__ void correlation_shifted(const float* __restrict__ x, const float* __restrict__ y,
    float* __restrict__ corr) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    const float* xr = x + (size_t)r * COLS;
    const float* yr = y + (size_t)r * COLS;
    float x0 = xr[0], y0 = yr[0];
    float sx = 0.0f, sy = 0.0f, xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int c = lane; c < COLS; c += 32) {
        float a = xr[c] - x0;
        float b = yr[c] - y0;
        sx += a;
        sy += b;
        xx = fmaf(a, a, xx);
        yy = fmaf(b, b, yy);
        xy = fmaf(a, b, xy);
    }
    sx = warp_sum(sx);
    sy = warp_sum(sy);
    xx = warp_sum(xx) - sx * sx / COLS;
    yy = warp_sum(yy) - sy * sy / COLS;
    xy = warp_sum(xy) - sx * sy / COLS;
    if (lane == 0) corr[r] = xx < 1e-12f || yy < 1e-12f ? 0.0f : xy / sqrtf(xx * yy);
}

int main() {
    const size_t total = (size_t)ROWS * COLS;
    float* x;
    float* y;
    float* corr;
    cudaMallocManaged(&x, total * sizeof(float));
    cudaMallocManaged(&y, total * sizeof(float));
    cudaMallocManaged(&corr, ROWS * sizeof(float));

    std::ifstream x_stream("data/x.bin", std::ios::binary);
    if (!x_stream.read(reinterpret_cast<char*>(x), total * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }
    std::ifstream y_stream("data/y.bin", std::ios::binary);
    if (!y_stream.read(reinterpret_cast<char*>(y), total * sizeof(float))) {
        std::cerr << "cannot read data/y.bin\n";
        return 1;
    }

    correlation_shifted<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(x, y, corr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream output("data/corr.bin", std::ios::binary);
    output.write(reinterpret_cast<char*>(corr), ROWS * sizeof(float));

    cudaFree(x);
    cudaFree(y);
    cudaFree(corr);
    return 0;
}
