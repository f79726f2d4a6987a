#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int CHANNELS = 4;
const int HEIGHT = 90;
const int WIDTH = 110;

const int kOutH = HEIGHT / 2;
const int kOutW = WIDTH / 2;

__device__ int mirror(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

// Separable in two passes: columns are filtered and halved first, then rows.
__global__ void halve_width(const float* __restrict__ x, float* __restrict__ mid) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= kOutW) return;
    for (int line = blockIdx.y; line < CHANNELS * HEIGHT; line += gridDim.y) {
        const float* row = x + (size_t)line * WIDTH;
        float outer = row[mirror(2 * j - 2, WIDTH)] + row[mirror(2 * j + 2, WIDTH)];
        float inner = row[mirror(2 * j - 1, WIDTH)] + row[mirror(2 * j + 1, WIDTH)];
        mid[(size_t)line * kOutW + j] = (outer + 4.0f * inner + 6.0f * row[2 * j]) * 0.0625f;
    }
}

__global__ void halve_height(const float* __restrict__ mid, float* __restrict__ y) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= kOutW) return;
    for (int line = blockIdx.y; line < CHANNELS * kOutH; line += gridDim.y) {
        const int r = 2 * (line % kOutH);
        const float* m = mid + (size_t)(line / kOutH) * HEIGHT * kOutW + j;
        float outer = m[(size_t)mirror(r - 2, HEIGHT) * kOutW] + m[(size_t)mirror(r + 2, HEIGHT) * kOutW];
        float inner = m[(size_t)mirror(r - 1, HEIGHT) * kOutW] + m[(size_t)mirror(r + 1, HEIGHT) * kOutW];
        y[(size_t)line * kOutW + j] = (outer + 4.0f * inner + 6.0f * m[(size_t)r * kOutW]) * 0.0625f;
    }
}

int main() {
    const int x_count = CHANNELS * HEIGHT * WIDTH;
    const int y_count = CHANNELS * (HEIGHT / 2) * (WIDTH / 2);
    float* x;
    float* y;
    float* mid;
    cudaMallocManaged(&x, x_count * sizeof(float));
    cudaMallocManaged(&y, y_count * sizeof(float));
    cudaMallocManaged(&mid, CHANNELS * HEIGHT * kOutW * sizeof(float));

    std::ifstream file_x("data/x.bin", std::ios::binary);
    if (!file_x.read(reinterpret_cast<char*>(x), x_count * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }

    dim3 grid((kOutW + 128 - 1) / 128, 4096);
    halve_width<<<grid, 128>>>(x, mid);
    halve_height<<<grid, 128>>>(mid, y);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }

    std::ofstream file_y("data/y.bin", std::ios::binary);
    file_y.write(reinterpret_cast<const char*>(y), y_count * sizeof(float));

    cudaFree(x);
    cudaFree(y);
    cudaFree(mid);
    return 0;
}
