#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int BATCH = 60;
const int TOTAL = 6000;

const int WIDTH = 160;

__global__ void pad_rows(const int* values, const int* offsets, int* padded, int* lost) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * WIDTH) return;
    int b = i / WIDTH;
    int t = i % WIDTH;
    int size = offsets[b + 1] - offsets[b];
    int dropped = size > WIDTH ? size - WIDTH : 0;
    int source = offsets[b] + dropped + t;
    padded[i] = source < offsets[b + 1] ? values[source] : -1;
    if (t == 0) lost[b] = dropped;
}

int main() {
    std::vector<int> h_values(TOTAL);
    std::vector<int> h_offsets(BATCH + 1);
    std::vector<int> h_padded(BATCH * 160);
    std::vector<int> h_lost(BATCH);
    std::ifstream in_values("data/values.bin", std::ios::binary);
    if (!in_values.read(reinterpret_cast<char*>(h_values.data()), TOTAL * sizeof(int))) {
        std::cerr << "failed to read data/values.bin" << std::endl;
        return 1;
    }
    std::ifstream in_offsets("data/offsets.bin", std::ios::binary);
    in_offsets.read(reinterpret_cast<char*>(h_offsets.data()), (BATCH + 1) * sizeof(int));
    if (!in_offsets) {
        std::cerr << "failed to read data/offsets.bin" << std::endl;
        return 1;
    }

    int *d_values, *d_offsets, *d_padded, *d_lost;
    cudaMalloc(&d_values, TOTAL * sizeof(int));
    cudaMalloc(&d_offsets, (BATCH + 1) * sizeof(int));
    cudaMalloc(&d_padded, BATCH * 160 * sizeof(int));
    cudaMalloc(&d_lost, BATCH * sizeof(int));
    cudaMemcpy(d_values, h_values.data(), TOTAL * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, h_offsets.data(), (BATCH + 1) * sizeof(int), cudaMemcpyHostToDevice);

    pad_rows<<<(BATCH * WIDTH + 255) / 256, 256>>>(d_values, d_offsets, d_padded, d_lost);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_padded.data(), d_padded, BATCH * 160 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_lost.data(), d_lost, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_padded("data/padded.bin", std::ios::binary);
    out_padded.write(reinterpret_cast<char*>(h_padded.data()), BATCH * 160 * sizeof(int));
    std::ofstream out_lost("data/lost.bin", std::ios::binary);
    out_lost.write(reinterpret_cast<char*>(h_lost.data()), BATCH * sizeof(int));

    cudaFree(d_values);
    cudaFree(d_offsets);
    cudaFree(d_padded);
    cudaFree(d_lost);
    return 0;
}
