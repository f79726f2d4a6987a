#include <cuda_runtime.h>
#include <cfloat>
#include <climits>
#include <fstream>
#include <iostream>
#include <vector>

const int N = 15000;
const int SEGMENTS = 200;
const int WARPS = 8;

// A warp works on one segment.
__global__ void segment_max_warp(const float* __restrict__ values, const int* __restrict__ offsets,
                                 float* __restrict__ top, int* __restrict__ position) {
    int s = blockIdx.x * WARPS + threadIdx.x / 32;
    if (s >= SEGMENTS) return;
    int lane = threadIdx.x % 32;
    int begin = offsets[s];
    int length = offsets[s + 1] - begin;
    float best = -FLT_MAX;
    int at = INT_MAX;
    for (int i = lane; i < length; i += 32) {
        float v = values[begin + i];
        if (v > best) {
            best = v;
            at = i;
        }
    }
    for (int d = 16; d > 0; d >>= 1) {
        float v = __shfl_down_sync(0xffffffffu, best, d);
        int i = __shfl_down_sync(0xffffffffu, at, d);
        if (v > best || (v == best && i < at)) {
            best = v;
            at = i;
        }
    }
    if (lane == 0) {
        top[s] = length > 0 ? best : 0.0f;
        position[s] = length > 0 ? at : -1;
    }
}

int main() {
    const int size = SEGMENTS + 1;
    std::vector<float> h_values(N);
    std::vector<int> h_offsets(size);
    std::vector<float> h_top(SEGMENTS);
    std::vector<int> h_position(SEGMENTS);

    std::ifstream values_in("data/values.bin", std::ios::binary);
    values_in.read(reinterpret_cast<char*>(h_values.data()), N * sizeof(float));
    if (!values_in) {
        std::cerr << "Failed to read data/values.bin" << std::endl;
        return 1;
    }
    std::ifstream offsets_in("data/offsets.bin", std::ios::binary);
    offsets_in.read(reinterpret_cast<char*>(h_offsets.data()), size * sizeof(int));
    if (!offsets_in) {
        std::cerr << "Failed to read data/offsets.bin" << std::endl;
        return 1;
    }

    float *d_values, *d_top;
    int *d_offsets, *d_position;
    cudaMalloc(&d_values, N * sizeof(float));
    cudaMalloc(&d_offsets, size * sizeof(int));
    cudaMalloc(&d_top, SEGMENTS * sizeof(float));
    cudaMalloc(&d_position, SEGMENTS * sizeof(int));
    cudaMemcpy(d_values, h_values.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, h_offsets.data(), size * sizeof(int), cudaMemcpyHostToDevice);

    segment_max_warp<<<(SEGMENTS + WARPS - 1) / WARPS, WARPS * 32>>>(d_values, d_offsets, d_top, d_position);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_top.data(), d_top, SEGMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_position.data(), d_position, SEGMENTS * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream top_dst("data/top.bin", std::ios::binary);
    top_dst.write(reinterpret_cast<char*>(h_top.data()), SEGMENTS * sizeof(float));
    std::ofstream position_dst("data/position.bin", std::ios::binary);
    position_dst.write(reinterpret_cast<char*>(h_position.data()), SEGMENTS * sizeof(int));

    cudaFree(d_values);
    cudaFree(d_offsets);
    cudaFree(d_top);
    cudaFree(d_position);
    return 0;
}
