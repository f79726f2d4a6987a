#include <cfloat>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int TRACKS = 3;
const int SAMPLES = 9999;

constexpr int BLOCKS = (SAMPLES + 499) / 500;
constexpr unsigned FULL = 0xffffffffu;

// A warp reads the 500 samples of a block side by side and reduces three values by shuffles.
__global__ void overview_warps(const float* __restrict__ audio, float* __restrict__ low, float* __restrict__ high,
                               float* __restrict__ level) {
    const int block = blockIdx.x * blockDim.y + threadIdx.y;
    if (block >= BLOCKS) return;
    const int size = min(500, SAMPLES - block * 500);
    const float* x = audio + (size_t)blockIdx.y * SAMPLES + block * 500;
    float lo = FLT_MAX, hi = -FLT_MAX, square = 0.0f;
    for (int t = threadIdx.x; t < size; t += 32) {
        const float v = x[t];
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
        square = fmaf(v, v, square);
    }
    for (int s = 16; s > 0; s /= 2) {
        lo = fminf(lo, __shfl_xor_sync(FULL, lo, s));
        hi = fmaxf(hi, __shfl_xor_sync(FULL, hi, s));
        square += __shfl_xor_sync(FULL, square, s);
    }
    const int out = blockIdx.y * BLOCKS + block;
    if (threadIdx.x == 0) low[out] = lo;
    if (threadIdx.x == 1) high[out] = hi;
    if (threadIdx.x == 2) level[out] = sqrtf(square / size);
}

int main() {
    std::vector<float> h_audio(TRACKS * SAMPLES);
    std::vector<float> h_low(TRACKS * BLOCKS);
    std::vector<float> h_high(TRACKS * BLOCKS);
    std::vector<float> h_level(TRACKS * BLOCKS);
    std::ifstream in_audio("data/audio.bin", std::ios::binary);
    in_audio.read((char*)h_audio.data(), TRACKS * SAMPLES * sizeof(float));
    if (!in_audio) {
        std::cerr << "error reading data/audio.bin" << std::endl;
        return 1;
    }

    float* d_audio;
    cudaMalloc(&d_audio, TRACKS * SAMPLES * sizeof(float));
    float* d_low;
    cudaMalloc(&d_low, TRACKS * BLOCKS * sizeof(float));
    float* d_high;
    cudaMalloc(&d_high, TRACKS * BLOCKS * sizeof(float));
    float* d_level;
    cudaMalloc(&d_level, TRACKS * BLOCKS * sizeof(float));
    cudaMemcpy(d_audio, h_audio.data(), TRACKS * SAMPLES * sizeof(float), cudaMemcpyHostToDevice);

    const dim3 threads(32, 8);
    const dim3 grid((BLOCKS + 7) / 8, TRACKS);
    overview_warps<<<grid, threads>>>(d_audio, d_low, d_high, d_level);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_low.data(), d_low, TRACKS * BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_high.data(), d_high, TRACKS * BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_level.data(), d_level, TRACKS * BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_low("data/low.bin", std::ios::binary);
    out_low.write((char*)h_low.data(), TRACKS * BLOCKS * sizeof(float));
    std::ofstream out_high("data/high.bin", std::ios::binary);
    out_high.write((char*)h_high.data(), TRACKS * BLOCKS * sizeof(float));
    std::ofstream out_level("data/level.bin", std::ios::binary);
    out_level.write((char*)h_level.data(), TRACKS * BLOCKS * sizeof(float));

    cudaFree(d_audio);
    cudaFree(d_low);
    cudaFree(d_high);
    cudaFree(d_level);
    return 0;
}
