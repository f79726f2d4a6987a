#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 50;
const int COLS = 400;
const int BLOCK = 64;

// Each thread scans one contiguous piece of the row; the pieces' first and last signs are joined at the end.
__global__ void count_sign_changes(const float* __restrict__ x, int* __restrict__ changes) {
    __shared__ int count[BLOCK], first[BLOCK], last[BLOCK];
    const float* row = x + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    int piece = (COLS + BLOCK - 1) / BLOCK;
    int begin = t * piece;
    int end = min(begin + piece, COLS);
    int found = 0, head = 0, tail = 0;
    for (int c = begin; c < end; ++c) {
        float v = row[c];
        int sign = (v > 0.0f) - (v < 0.0f);
        if (sign == 0) continue;
        if (head == 0) head = sign;
        if (tail != 0 && tail != sign) ++found;
        tail = sign;
    }
    count[t] = found;
    first[t] = head;
    last[t] = tail;
    __syncthreads();
    if (t == 0) {
        int total = 0, previous = 0;
        for (int k = 0; k < BLOCK; ++k) {
            total += count[k];
            if (first[k] == 0) continue;
            if (previous != 0 && previous != first[k]) ++total;
            previous = last[k];
        }
        changes[blockIdx.x] = total;
    }
}

int main() {
    std::vector<float> h_x(ROWS * COLS);
    std::vector<int> h_changes(ROWS);

    std::ifstream in("data/x.bin", std::ios::binary);
    in.read((char*)h_x.data(), ROWS * COLS * sizeof(float));
    if (!in) {
        std::cerr << "Cannot read data/x.bin" << std::endl;
        return 1;
    }

    float* d_x;
    int* d_changes;
    cudaMalloc(&d_x, ROWS * COLS * sizeof(float));
    cudaMalloc(&d_changes, ROWS * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

    count_sign_changes<<<ROWS, BLOCK>>>(d_x, d_changes);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_changes.data(), d_changes, ROWS * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream result("data/changes.bin", std::ios::binary);
    result.write((char*)h_changes.data(), ROWS * sizeof(int));
    result.close();

    cudaFree(d_x);
    cudaFree(d_changes);
    return 0;
}
