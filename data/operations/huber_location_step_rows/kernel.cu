#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_values(const std::string& path, void* dst, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(dst), bytes)) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void store_values(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(dst), bytes);
}
//@given

constexpr int kRows = 50;
constexpr int kCols = 640;
constexpr int kBlock = 128;

// Sums w * (x - centre), which is w clipped to the bound times the sign: no division for the numerator.
__global__ void location_step(const float* __restrict__ x, const float* __restrict__ centre,
                              const float* __restrict__ scale, float* updated, float* weight_sum) {
    __shared__ float2 parts[kBlock / 32];
    float m = centre[blockIdx.x];
    float bound = 1.345f * scale[blockIdx.x];
    const float* row = x + (size_t)blockIdx.x * kCols;
    float shift = 0.0f, weights = 0.0f;
    for (int c = threadIdx.x; c < kCols; c += kBlock) {
        float d = row[c] - m;
        shift += fminf(fmaxf(d, -bound), bound);
        weights += bound / fmaxf(fabsf(d), bound);
    }
    for (int s = 16; s > 0; s /= 2) {
        shift += __shfl_xor_sync(0xffffffffu, shift, s);
        weights += __shfl_xor_sync(0xffffffffu, weights, s);
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = make_float2(shift, weights);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < kBlock / 32; ++k) {
            shift += parts[k].x;
            weights += parts[k].y;
        }
        updated[blockIdx.x] = m + shift / weights;
        weight_sum[blockIdx.x] = weights;
    }
}

int main() {
    const size_t size = (size_t)kRows * kCols;
    float* h_x = new float[size];
    float* h_centre = new float[kRows];
    float* h_scale = new float[kRows];
    float* h_updated = new float[kRows];
    float* h_weight_sum = new float[kRows];
    load_values("data/x.bin", h_x, size * sizeof(float));
    load_values("data/centre.bin", h_centre, kRows * sizeof(float));
    load_values("data/scale.bin", h_scale, kRows * sizeof(float));

    float* d_x;
    float* d_centre;
    float* d_scale = nullptr;
    float* d_updated = nullptr;
    float* d_weight_sum = nullptr;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_centre, kRows * sizeof(float));
    cudaMalloc(&d_scale, kRows * sizeof(float));
    cudaMalloc(&d_updated, kRows * sizeof(float));
    cudaMalloc(&d_weight_sum, kRows * sizeof(float));
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_centre, h_centre, kRows * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_scale, h_scale, kRows * sizeof(float), cudaMemcpyHostToDevice);

    location_step<<<kRows, kBlock>>>(d_x, d_centre, d_scale, d_updated, d_weight_sum);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_updated, d_updated, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_weight_sum, d_weight_sum, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    store_values("data/updated.bin", h_updated, kRows * sizeof(float));
    store_values("data/weight_sum.bin", h_weight_sum, kRows * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_centre);
    cudaFree(d_scale);
    cudaFree(d_updated);
    cudaFree(d_weight_sum);
    delete[] h_x;
    delete[] h_centre;
    delete[] h_scale;
    delete[] h_updated;
    delete[] h_weight_sum;
    return 0;
}
