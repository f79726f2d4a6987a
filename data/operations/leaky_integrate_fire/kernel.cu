#include <fstream>
#include <iostream>
#include <vector>
#include <cstdint>
#include <cuda_runtime.h>

#define STEPS 16
#define NEURONS 1500

// Two neighbouring neurons a thread: float2 loads and uchar2 stores. The number of neurons is even.
__global__ void lif_pairs(const float2* __restrict__ current, const float2* __restrict__ threshold,
                          uchar2* __restrict__ spikes, int2* __restrict__ count, float2* __restrict__ potential) {
    const int pairs = NEURONS / 2;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= pairs) return;
    const float2 limit = threshold[j];
    float2 v = make_float2(0.0f, 0.0f);
    int2 fired = make_int2(0, 0);
    for (int t = 0; t < STEPS; ++t) {
        const float2 in = current[(size_t)t * pairs + j];
        v.x = fmaf(0.5f, v.x, in.x);
        v.y = fmaf(0.5f, v.y, in.y);
        const bool a = v.x >= limit.x, b = v.y >= limit.y;
        v.x -= a ? limit.x : 0.0f;
        v.y -= b ? limit.y : 0.0f;
        fired.x += a;
        fired.y += b;
        spikes[(size_t)t * pairs + j] = make_uchar2(a, b);
    }
    count[j] = fired;
    potential[j] = v;
}

int main() {
    const int total = STEPS * NEURONS;
    std::vector<float> h_current(total);
    std::vector<float> h_threshold(NEURONS);
    std::vector<uint8_t> h_spikes(total);
    std::vector<int> h_count(NEURONS);
    std::vector<float> h_potential(NEURONS);
    std::ifstream current_file("data/current.bin", std::ios::binary);
    current_file.read((char*)h_current.data(), total * sizeof(float));
    if (!current_file) {
        std::cerr << "failed to read data/current.bin" << std::endl;
        return 1;
    }
    std::ifstream threshold_file("data/threshold.bin", std::ios::binary);
    threshold_file.read((char*)h_threshold.data(), NEURONS * sizeof(float));
    if (!threshold_file) {
        std::cerr << "missing or incomplete file data/threshold.bin" << std::endl;
        return 1;
    }

    float* d_current;
    float* d_threshold;
    float* d_potential;
    uint8_t* d_spikes;
    int* d_count;
    cudaMalloc(&d_current, total * sizeof(float));
    cudaMalloc(&d_threshold, NEURONS * sizeof(float));
    cudaMalloc(&d_spikes, total * sizeof(uint8_t));
    cudaMalloc(&d_count, NEURONS * sizeof(int));
    cudaMalloc(&d_potential, NEURONS * sizeof(float));
    cudaMemcpy(d_current, h_current.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_threshold, h_threshold.data(), NEURONS * sizeof(float), cudaMemcpyHostToDevice);

    const int pairs = NEURONS / 2;
    lif_pairs<<<(pairs + 127) / 128, 128>>>((const float2*)d_current, (const float2*)d_threshold,
                                          (uchar2*)d_spikes, (int2*)d_count, (float2*)d_potential);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_spikes.data(), d_spikes, total * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_count.data(), d_count, NEURONS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_potential.data(), d_potential, NEURONS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream fout_spikes("data/spikes.bin", std::ios::binary);
    fout_spikes.write((char*)h_spikes.data(), total * sizeof(uint8_t));
    std::ofstream fout_count("data/count.bin", std::ios::binary);
    fout_count.write((char*)h_count.data(), NEURONS * sizeof(int));
    std::ofstream out_potential("data/potential.bin", std::ios::binary);
    out_potential.write((char*)h_potential.data(), NEURONS * sizeof(float));

    cudaFree(d_current);
    cudaFree(d_threshold);
    cudaFree(d_spikes);
    cudaFree(d_count);
    cudaFree(d_potential);
    return 0;
}
