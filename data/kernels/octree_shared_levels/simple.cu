#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

__global__ void levels(const uint32_t* codes, uint8_t* shared, int* cells, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int same = 0;
    for (int level = 1; level <= 10; ++level) {
        int shift = 30 - 3 * level;
        if (i > 0 && codes[i] >> shift == codes[i - 1] >> shift) {
            ++same;
        } else {
            atomicAdd(&cells[level - 1], 1);  // the first point of its cell
        }
    }
    shared[i] = same;
}

bool load(const char* path, void* data, size_t bytes) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || size_t(file.tellg()) != bytes) return false;
    file.seekg(0);
    return bool(file.read(static_cast<char*>(data), bytes));
}

bool save(const char* path, const void* data, size_t bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(data), bytes);
    file.close();
    return bool(file);
}

int main() {
    int n = 0;
    if (!load("data/sizes.bin", &n, sizeof n) || n < 1 || n > 16777216) {
        std::cerr << "data/sizes.bin: expected n from 1 to 16777216\n";
        return 1;
    }
    std::vector<uint32_t> codes(n);
    std::vector<uint8_t> shared(n);
    int cells[10];
    if (!load("data/codes.bin", codes.data(), n * sizeof(uint32_t))) {
        std::cerr << "data/codes.bin: expected " << n << " codes\n";
        return 1;
    }
    uint32_t* d_codes = nullptr;
    uint8_t* d_shared = nullptr;
    int* d_cells = nullptr;
    cudaMalloc(&d_codes, n * sizeof(uint32_t));
    cudaMalloc(&d_shared, n);
    cudaMalloc(&d_cells, sizeof cells);
    cudaMemcpy(d_codes, codes.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMemset(d_cells, 0, sizeof cells);
    levels<<<(n + 255) / 256, 256>>>(d_codes, d_shared, d_cells, n);
    cudaMemcpy(shared.data(), d_shared, n, cudaMemcpyDeviceToHost);
    cudaMemcpy(cells, d_cells, sizeof cells, cudaMemcpyDeviceToHost);
    // The runtime keeps the first error of the calls above.
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }
    cudaFree(d_codes);
    cudaFree(d_shared);
    cudaFree(d_cells);
    bool written = save("data/shared.bin", shared.data(), n) && save("data/cells.bin", cells, sizeof cells);
    return written ? 0 : 1;
}
