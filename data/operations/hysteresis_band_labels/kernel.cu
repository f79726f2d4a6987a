#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 60;
const int WIDTH = 90;
const int BLOCK = 256;

// One block a row. First the columns are marked in which this row or a row beside it is strong.
__global__ void label_row(const float* __restrict__ strength, uint8_t* __restrict__ label, int* __restrict__ kept) {
    __shared__ uint8_t column[WIDTH];
    __shared__ int total;
    const int y = blockIdx.x;
    const int above = y > 0 ? y - 1 : y, below = y + 1 < HEIGHT ? y + 1 : y;
    if (threadIdx.x == 0) total = 0;
    for (int x = threadIdx.x; x < WIDTH; x += BLOCK) {
        float v = fmaxf(strength[y * WIDTH + x], fmaxf(strength[above * WIDTH + x], strength[below * WIDTH + x]));
        column[x] = v >= 0.75f;
    }
    __syncthreads();
    int count = 0;
    for (int x = threadIdx.x; x < WIDTH; x += BLOCK) {
        const float v = strength[y * WIDTH + x];
        const bool near = column[x] || (x > 0 && column[x - 1]) || (x + 1 < WIDTH && column[x + 1]);
        const int result = v >= 0.75f ? 2 : (v >= 0.375f && near ? 1 : 0);
        label[y * WIDTH + x] = (uint8_t)result;
        count += result > 0;
    }
    for (int s = 16; s > 0; s /= 2) count += __shfl_down_sync(0xffffffffu, count, s);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, count);
    __syncthreads();
    if (threadIdx.x == 0) kept[y] = total;
}

int main() {
    const size_t count = HEIGHT * WIDTH;
    std::vector<float> h_strength(count);
    std::vector<uint8_t> h_label(count);
    std::vector<int> h_kept(HEIGHT);

    std::ifstream fin("data/strength.bin", std::ios::binary);
    fin.read((char*)(h_strength.data()), count * sizeof(float));
    if (!fin) {
        std::cerr << "could not read data/strength.bin" << std::endl;
        return 1;
    }

    float *d_strength = nullptr;
    uint8_t *d_label = nullptr;
    int *d_kept = nullptr;
    cudaMalloc(&d_strength, count * sizeof(float));
    cudaMalloc(&d_label, count * sizeof(uint8_t));
    cudaMalloc(&d_kept, HEIGHT * sizeof(int));
    cudaMemcpy(d_strength, h_strength.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    label_row<<<HEIGHT, BLOCK>>>(d_strength, d_label, d_kept);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_label.data(), d_label, count * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kept.data(), d_kept, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_label("data/label.bin", std::ios::binary);
    out_label.write((char*)(h_label.data()), count * sizeof(uint8_t));
    std::ofstream out_kept("data/kept.bin", std::ios::binary);
    out_kept.write((char*)(h_kept.data()), HEIGHT * sizeof(int));

    cudaFree(d_strength);
    cudaFree(d_label);
    cudaFree(d_kept);
    return 0;
}
