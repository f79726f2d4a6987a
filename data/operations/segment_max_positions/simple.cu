#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& path, void* buffer, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    stream.read(reinterpret_cast<char*>(buffer), bytes);
}

void write_binary(const std::string& path, const void* buffer, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(buffer), bytes);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

#define N 15000
#define SEGMENTS 200

__global__ void segment_max(const float* values, const int* offsets, float* top, int* position) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= SEGMENTS) return;
    int begin = offsets[s];
    int end = offsets[s + 1];
    if (begin == end) {
        top[s] = 0.0f;
        position[s] = -1;
        return;
    }
    float best = values[begin];
    int at = begin;
    for (int i = begin + 1; i < end; ++i) {
        if (values[i] > best) {
            best = values[i];
            at = i;
        }
    }
    top[s] = best;
    position[s] = at - begin;
}

int main() {
    const size_t elements = (size_t)SEGMENTS + 1;
    float* host_values = new float[N];
    read_binary("data/values.bin", host_values, N * sizeof(float));
    int* host_offsets = new int[elements];
    read_binary("data/offsets.bin", host_offsets, elements * sizeof(int));
    float* host_top = new float[SEGMENTS];
    int* host_position = new int[SEGMENTS];

    float* dValues;
    float* dTop = nullptr;
    int* dOffsets = nullptr;
    int* dPosition = nullptr;
    cudaMalloc(&dValues, N * sizeof(float));
    cudaMalloc(&dOffsets, elements * sizeof(int));
    cudaMalloc(&dTop, SEGMENTS * sizeof(float));
    cudaMalloc(&dPosition, SEGMENTS * sizeof(int));
    cudaMemcpy(dValues, host_values, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dOffsets, host_offsets, elements * sizeof(int), cudaMemcpyHostToDevice);

    int threads = 128;
    int blocks = DIV_UP(SEGMENTS, threads);
    segment_max<<<blocks, threads>>>(dValues, dOffsets, dTop, dPosition);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(host_top, dTop, SEGMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_position, dPosition, SEGMENTS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/top.bin", host_top, SEGMENTS * sizeof(float));
    write_binary("data/position.bin", host_position, SEGMENTS * sizeof(int));

    cudaFree(dValues);
    cudaFree(dOffsets);
    cudaFree(dTop);
    cudaFree(dPosition);
    delete[] host_values;
    delete[] host_offsets;
    delete[] host_top;
    delete[] host_position;
    return 0;
}
