#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int ROWS = 16;
const int COLS = 500;

__constant__ float SMOOTH[7] = {-2.0f, 3.0f, 6.0f, 7.0f, 6.0f, 3.0f, -2.0f};
__constant__ float SLOPE[7] = {22.0f, -67.0f, -58.0f, 0.0f, 58.0f, 67.0f, -22.0f};

__global__ void savitzky_golay(const float* trace, float* smooth, float* slope) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= COLS) return;
    float a = 0.0f, b = 0.0f;
    for (int k = -3; k <= 3; k++) {
        int j = c + k;
        if (j < 0) j = -j;
        if (j >= COLS) j = 2 * (COLS - 1) - j;
        float v = trace[r * COLS + j];
        a += SMOOTH[k + 3] * v;
        b += SLOPE[k + 3] * v;
    }
    smooth[r * COLS + c] = a / 21.0f;
    slope[r * COLS + c] = b / 252.0f;
}

int main() {
    const size_t elements = ROWS * COLS;
    float* trace = nullptr;
    float* smooth = nullptr;
    float* slope = nullptr;
    cudaMallocManaged(&trace, elements * sizeof(float));
    cudaMallocManaged(&smooth, elements * sizeof(float));
    cudaMallocManaged(&slope, elements * sizeof(float));

    std::ifstream in_trace("data/trace.bin", std::ios::binary);
    if (!in_trace.read((char*)trace, elements * sizeof(float))) {
        std::cerr << "could not open data/trace.bin\n";
        return 1;
    }

    dim3 grid((COLS + 127) / 128, ROWS);
    savitzky_golay<<<grid, 128>>>(trace, smooth, slope);
    if (cudaError_t err = cudaDeviceSynchronize()) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::ofstream out_smooth("data/smooth.bin", std::ios::binary);
    out_smooth.write((char*)smooth, elements * sizeof(float));
    std::ofstream out_slope("data/slope.bin", std::ios::binary);
    out_slope.write((char*)slope, elements * sizeof(float));

    cudaFree(trace);
    cudaFree(smooth);
    cudaFree(slope);
    return 0;
}
