#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data), bytes)) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void save(const std::string& path, const void* data, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), bytes);
}
//@given

const int ROWS = 50;
const int COLS = 400;
const int BLOCK = 128;

__global__ void count_sign_changes(const float* x, int* changes) {
    __shared__ int counts[BLOCK];
    const float* row = x + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    int found = 0;
    for (int c = t; c < COLS; c += BLOCK) {
        float v = row[c];
        if (v == 0.0f) continue;
        int k = c - 1;
        while (k >= 0 && row[k] == 0.0f) --k;
        if (k >= 0 && (row[k] < 0.0f) != (v < 0.0f)) ++found;
    }
    counts[t] = found;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) counts[t] += counts[t + s];
        __syncthreads();
    }
    if (t == 0) changes[blockIdx.x] = counts[0];
}

int main() {
    const size_t count = (size_t)ROWS * COLS;
    float* h_x = new float[count];
    load("data/x.bin", h_x, count * sizeof(float));
    int* h_changes = new int[ROWS];

    float* dX = nullptr;
    int* dChanges = nullptr;
    cudaMalloc(&dX, count * sizeof(float));
    cudaMalloc(&dChanges, ROWS * sizeof(int));
    cudaMemcpy(dX, h_x, count * sizeof(float), cudaMemcpyHostToDevice);

    count_sign_changes<<<ROWS, BLOCK>>>(dX, dChanges);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_changes, dChanges, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    save("data/changes.bin", h_changes, ROWS * sizeof(int));

    cudaFree(dX);
    cudaFree(dChanges);
    delete[] h_x;
    delete[] h_changes;
    return 0;
}
