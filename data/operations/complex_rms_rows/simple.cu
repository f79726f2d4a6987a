#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 40
#define BINS 257

__global__ void row_levels(const float* z, float* level) {
    __shared__ float part[256];
    const float* row = z + (size_t)blockIdx.x * BINS * 2;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < 2 * BINS; i += blockDim.x) sum += row[i] * row[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) level[blockIdx.x] = sqrtf(part[0] / BINS + 1e-8f);
}

__global__ void scale_rows(const float* z, const float* weight, const float* level, float* scaled) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (b >= BINS) return;
    size_t i = ((size_t)r * BINS + b) * 2;
    float f = weight[b] / level[r];
    scaled[i] = z[i] * f;
    scaled[i + 1] = z[i + 1] * f;
}

void run(const float* d_z, const float* d_weight, float* d_scaled, float* d_level) {
    row_levels<<<ROWS, 256>>>(d_z, d_level);
    dim3 grid((BINS + 256 - 1) / 256, ROWS);
    scale_rows<<<grid, 256>>>(d_z, d_weight, d_level, d_scaled);
}

int main() {
    const size_t num_z = ROWS * BINS * 2;
    std::vector<float> h_z(num_z);
    std::vector<float> h_weight(BINS);
    std::vector<float> h_scaled(num_z);
    std::vector<float> h_level(ROWS);
    std::ifstream in_z("data/z.bin", std::ios::binary);
    if (!in_z.read(reinterpret_cast<char*>(h_z.data()), num_z * sizeof(float))) {
        std::cerr << "cannot read data/z.bin\n";
        return 1;
    }
    std::ifstream in_weight("data/weight.bin", std::ios::binary);
    if (!in_weight.read(reinterpret_cast<char*>(h_weight.data()), BINS * sizeof(float))) {
        std::cerr << "cannot read data/weight.bin\n";
        return 1;
    }

    float *d_z, *d_weight, *d_scaled, *d_level;
    cudaMalloc(&d_z, num_z * sizeof(float));
    cudaMalloc(&d_weight, BINS * sizeof(float));
    cudaMalloc(&d_scaled, num_z * sizeof(float));
    cudaMalloc(&d_level, ROWS * sizeof(float));
    cudaMemcpy(d_z, h_z.data(), num_z * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight.data(), BINS * sizeof(float), cudaMemcpyHostToDevice);

    run(d_z, d_weight, d_scaled, d_level);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_scaled.data(), d_scaled, num_z * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_level.data(), d_level, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/scaled.bin", std::ios::binary).write(reinterpret_cast<char*>(h_scaled.data()),
        num_z * sizeof(float));
    std::ofstream("data/level.bin", std::ios::binary).write(reinterpret_cast<char*>(h_level.data()),
        ROWS * sizeof(float));
    cudaFree(d_z);
    cudaFree(d_weight);
    cudaFree(d_scaled);
    cudaFree(d_level);
    return 0;
}
