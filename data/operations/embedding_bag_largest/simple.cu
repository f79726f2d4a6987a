#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int VOCAB = 300;
static const int DIM = 64;
static const int BAGS = 200;
static const int TOTAL_ITEMS = 1500;

__global__ void bag_max(const float* table, const int* items, const int* offsets, float* bag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BAGS * DIM) return;
    int k = i / DIM, d = i % DIM;
    bool any = false;
    float best = 0.0f;
    for (int e = offsets[k]; e < offsets[k + 1]; ++e) {
        int row = items[e];
        if (row < 0) continue;
        float v = table[(size_t)row * DIM + d];
        if (!any || v > best) best = v;
        any = true;
    }
    bag[i] = best;
}

int main() {
    const int n_table = VOCAB * DIM;
    const int n_offsets = (BAGS + 1);
    const int n_bag = BAGS * DIM;
    std::vector<float> h_table(n_table), h_bag(n_bag);
    std::vector<int> h_items(TOTAL_ITEMS), h_offsets(n_offsets);
    std::ifstream in_table("data/table.bin", std::ios::binary);
    in_table.read(reinterpret_cast<char*>(h_table.data()), n_table * sizeof(float));
    if (!in_table) {
        std::cerr << "missing or short file data/table.bin" << std::endl;
        return 1;
    }
    std::ifstream in_items("data/items.bin", std::ios::binary);
    in_items.read(reinterpret_cast<char*>(h_items.data()), TOTAL_ITEMS * sizeof(int));
    if (!in_items) {
        std::cerr << "missing or short file data/items.bin" << std::endl;
        return 1;
    }
    std::ifstream in_offsets("data/offsets.bin", std::ios::binary);
    in_offsets.read(reinterpret_cast<char*>(h_offsets.data()), n_offsets * sizeof(int));
    if (!in_offsets) {
        std::cerr << "missing or short file data/offsets.bin" << std::endl;
        return 1;
    }

    float *d_table, *d_bag;
    int *d_items, *d_offsets;
    cudaMalloc(&d_table, n_table * sizeof(float));
    cudaMalloc(&d_items, TOTAL_ITEMS * sizeof(int));
    cudaMalloc(&d_offsets, n_offsets * sizeof(int));
    cudaMalloc(&d_bag, n_bag * sizeof(float));
    cudaMemcpy(d_table, h_table.data(), n_table * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_items, h_items.data(), TOTAL_ITEMS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, h_offsets.data(), n_offsets * sizeof(int), cudaMemcpyHostToDevice);

    bag_max<<<(BAGS * DIM + 256 - 1) / 256, 256>>>(d_table, d_items, d_offsets, d_bag);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(h_bag.data(), d_bag, n_bag * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_bag("data/bag.bin", std::ios::binary);
    out_bag.write(reinterpret_cast<char*>(h_bag.data()), n_bag * sizeof(float));

    cudaFree(d_table);
    cudaFree(d_items);
    cudaFree(d_offsets);
    cudaFree(d_bag);
    return 0;
}
