#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 8000;
const int GRID = 32;
const int CELLS = GRID * GRID;

// An unsigned key keeps the order of floats, so that atomicMax works on any height; key 0 stands for an empty cell.
__device__ unsigned int to_key(float z) {
    unsigned int bits = __float_as_uint(z);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float from_key(unsigned int key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

__global__ void scatter(const float* __restrict__ points, int* count, float* sum, unsigned int* keys) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        int col = (int)floorf(points[3 * i]);
        int row = (int)floorf(points[3 * i + 1]);
        if ((unsigned int)col < GRID && (unsigned int)row < GRID) {
            float z = points[3 * i + 2];
            int c = row * GRID + col;
            atomicAdd(count + c, 1);
            atomicAdd(sum + c, z);
            atomicMax(keys + c, to_key(z));
        }
    }
}

// The sums wait in mean_height and are divided in place.
__global__ void summarize(const int* __restrict__ count, const unsigned int* __restrict__ keys,
                          float* __restrict__ mean_height, float* __restrict__ top) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= CELLS) return;
    int k = count[c];
    if (k > 0) mean_height[c] /= k;
    top[c] = k > 0 ? from_key(keys[c]) : 0.0f;
}

int main() {
    std::vector<float> h_points(N * 3);
    std::vector<float> h_mean_height(GRID * GRID);
    std::vector<float> h_top(GRID * GRID);
    std::vector<int> h_count(GRID * GRID);

    std::ifstream file("data/points.bin", std::ios::binary);
    file.read(reinterpret_cast<char*>(h_points.data()), h_points.size() * sizeof(float));
    if (!file) {
        std::cerr << "could not read data/points.bin" << std::endl;
        return 1;
    }

    float *d_points, *d_mean_height, *d_top;
    int *d_count;
    unsigned *d_keys;
    cudaMalloc(&d_points, sizeof(float) * N * 3);
    cudaMalloc(&d_count, sizeof(int) * GRID * GRID);
    cudaMalloc(&d_mean_height, sizeof(float) * GRID * GRID);
    cudaMalloc(&d_top, sizeof(float) * GRID * GRID);
    cudaMalloc(&d_keys, sizeof(unsigned) * CELLS);
    cudaMemcpy(d_points, h_points.data(), sizeof(float) * N * 3, cudaMemcpyHostToDevice);

    cudaMemset(d_count, 0, sizeof(int) * CELLS);
    cudaMemset(d_mean_height, 0, sizeof(float) * CELLS);
    cudaMemset(d_keys, 0, sizeof(unsigned) * CELLS);
    int blocks = min((N + 255) / 256, 1024);
    scatter<<<blocks, 256>>>(d_points, d_count, d_mean_height, d_keys);
    summarize<<<(CELLS + 255) / 256, 256>>>(d_count, d_keys, d_mean_height, d_top);

    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_count.data(), d_count, sizeof(int) * GRID * GRID, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mean_height.data(), d_mean_height, sizeof(float) * GRID * GRID, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_top.data(), d_top, sizeof(float) * GRID * GRID, cudaMemcpyDeviceToHost);
    std::ofstream out_count("data/count.bin", std::ios::binary);
    out_count.write(reinterpret_cast<const char*>(h_count.data()), sizeof(int) * GRID * GRID);
    std::ofstream out_mean_height("data/mean_height.bin", std::ios::binary);
    out_mean_height.write(reinterpret_cast<const char*>(h_mean_height.data()), sizeof(float) * GRID * GRID);
    std::ofstream out_top("data/top.bin", std::ios::binary);
    out_top.write(reinterpret_cast<const char*>(h_top.data()), sizeof(float) * GRID * GRID);

    cudaFree(d_points);
    cudaFree(d_count);
    cudaFree(d_mean_height);
    cudaFree(d_top);
    cudaFree(d_keys);
    return 0;
}
