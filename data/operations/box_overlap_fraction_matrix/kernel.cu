#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 100;
const int COLS = 150;
const int TILE = 8;
const int BLOCK = 128;

// A thread keeps one right box in registers and meets TILE left boxes from shared memory.
__global__ void overlap_tile(const float* __restrict__ left, const float* __restrict__ right,
                             float* __restrict__ fraction) {
    __shared__ float boxes[TILE][7];
    int first = blockIdx.y * TILE;
    if (threadIdx.x < TILE && first + threadIdx.x < ROWS) {
        const float* a = left + 6 * (first + threadIdx.x);
        float* s = boxes[threadIdx.x];
        for (int k = 0; k < 3; ++k) {
            s[k] = a[k];
            s[k + 3] = a[k] + a[k + 3];
        }
        s[6] = a[3] * a[4] * a[5];
    }
    __syncthreads();
    int j = blockIdx.x * BLOCK + threadIdx.x;
    if (j >= COLS) return;
    const float* b = right + 6 * j;
    float x0 = b[0], y0 = b[1], z0 = b[2];
    float x1 = x0 + b[3], y1 = y0 + b[4], z1 = z0 + b[5];
    float volume = b[3] * b[4] * b[5];
    int count = min(TILE, ROWS - first);
    for (int i = 0; i < count; ++i) {
        const float* s = boxes[i];
        float w = fmaxf(fminf(x1, s[3]) - fmaxf(x0, s[0]), 0.0f);
        float h = fmaxf(fminf(y1, s[4]) - fmaxf(y0, s[1]), 0.0f);
        float d = fmaxf(fminf(z1, s[5]) - fmaxf(z0, s[2]), 0.0f);
        fraction[(size_t)(first + i) * COLS + j] = w * h * d / fminf(volume, s[6]);
    }
}

int main() {
    std::vector<float> h_left(ROWS * 6), h_right(COLS * 6), h_fraction(ROWS * COLS);
    std::ifstream in_left("data/left.bin", std::ios::binary);
    if (!in_left.read((char*)h_left.data(), sizeof(float) * ROWS * 6)) return 1;
    std::ifstream in_right("data/right.bin", std::ios::binary);
    if (!in_right.read((char*)h_right.data(), sizeof(float) * COLS * 6)) return 1;
    float* d_left;
    float* d_right;
    float* d_fraction;
    cudaMalloc(&d_left, sizeof(float) * ROWS * 6);
    cudaMalloc(&d_right, sizeof(float) * COLS * 6);
    cudaMalloc(&d_fraction, sizeof(float) * ROWS * COLS);
    cudaMemcpy(d_left, h_left.data(), sizeof(float) * ROWS * 6, cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right.data(), sizeof(float) * COLS * 6, cudaMemcpyHostToDevice);
    dim3 grid((COLS + BLOCK - 1) / BLOCK, (ROWS + TILE - 1) / TILE);
    overlap_tile<<<grid, BLOCK>>>(d_left, d_right, d_fraction);
    cudaMemcpy(h_fraction.data(), d_fraction, sizeof(float) * ROWS * COLS, cudaMemcpyDeviceToHost);
    std::ofstream("data/fraction.bin", std::ios::binary).write((char*)h_fraction.data(),
        sizeof(float) * ROWS * COLS);
}
