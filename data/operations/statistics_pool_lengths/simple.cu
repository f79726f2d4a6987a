#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void readArray(const std::string& filename, T* values, size_t size) {
    std::ifstream file(filename, std::ios::binary);
    file.read(reinterpret_cast<char*>(values), size * sizeof(T));
    if (!file) {
        std::cerr << "failed to read " << filename << std::endl;
        exit(1);
    }
}

template <typename T>
void writeArray(const std::string& filename, const T* values, size_t size) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values), size * sizeof(T));
}
//@given

static const int kBatch = 6;
static const int kTime = 70;
static const int kDim = 100;

__global__ void pool_stats(const float* frames, const int* lengths, float* stats) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (d >= kDim) return;
    int n = lengths[b];
    const float* x = frames + (size_t)b * kTime * kDim + d;
    float mean = 0.0f;
    for (int t = 0; t < n; ++t) mean += x[(size_t)t * kDim];
    mean /= n;
    float var = 0.0f;
    for (int t = 0; t < n; ++t) {
        float diff = x[(size_t)t * kDim] - mean;
        var += diff * diff;
    }
    stats[b * 2 * kDim + d] = mean;
    stats[b * 2 * kDim + kDim + d] = sqrtf(fmaxf(var / n, 1e-6f));
}

int main() {
    const size_t frames_size = (size_t)kBatch * kTime * kDim;
    const size_t stats_size = (size_t)kBatch * 2 * kDim;
    float* h_frames = new float[frames_size];
    int* h_lengths = new int[kBatch];
    float* h_stats = new float[stats_size];
    readArray("data/frames.bin", h_frames, frames_size);
    readArray("data/lengths.bin", h_lengths, kBatch);

    float* d_frames;
    int* d_lengths;
    float* d_stats;
    cudaMalloc(&d_frames, frames_size * sizeof(float));
    cudaMalloc(&d_lengths, kBatch * sizeof(int));
    cudaMalloc(&d_stats, stats_size * sizeof(float));
    cudaMemcpy(d_frames, h_frames, frames_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths, kBatch * sizeof(int), cudaMemcpyHostToDevice);

    dim3 grid((kDim + 64 - 1) / 64, kBatch);
    pool_stats<<<grid, 64>>>(d_frames, d_lengths, d_stats);

    cudaMemcpy(h_stats, d_stats, stats_size * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/stats.bin", h_stats, stats_size);

    cudaFree(d_frames);
    cudaFree(d_lengths);
    cudaFree(d_stats);
    delete[] h_frames;
    delete[] h_lengths;
    delete[] h_stats;
    return 0;
}
