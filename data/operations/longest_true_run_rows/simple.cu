#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 90
#define COLS 500

__global__ void longest_run(const unsigned char* mask, int* length, int* start) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    int best = 0, where = -1, run = 0;
    for (int c = 0; c < COLS; ++c) {
        if (mask[(size_t)r * COLS + c]) {
            ++run;
            if (run > best) {
                best = run;
                where = c - run + 1;
            }
        } else {
            run = 0;
        }
    }
    length[r] = best;
    start[r] = where;
}

int main() {
    std::vector<unsigned char> mask(ROWS * COLS);
    std::vector<int> length(ROWS), start(ROWS);
    FILE* f = fopen("data/mask.bin", "rb");
    if (!f || fread(mask.data(), sizeof(unsigned char), ROWS * COLS, f) != ROWS * COLS) return 1;
    fclose(f);
    unsigned char* dev_mask;
    int *dev_length, *dev_start;
    cudaMalloc(&dev_mask, ROWS * COLS * sizeof(unsigned char));
    cudaMalloc(&dev_length, ROWS * sizeof(int));
    cudaMalloc(&dev_start, ROWS * sizeof(int));
    cudaMemcpy(dev_mask, mask.data(), ROWS * COLS * sizeof(unsigned char), cudaMemcpyHostToDevice);
    longest_run<<<(ROWS + 64 - 1) / 64, 64>>>(dev_mask, dev_length, dev_start);
    cudaMemcpy(length.data(), dev_length, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(start.data(), dev_start, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* g0 = fopen("data/length.bin", "wb");
    fwrite(length.data(), sizeof(int), ROWS, g0);
    fclose(g0);
    FILE* g1 = fopen("data/start.bin", "wb");
    fwrite(start.data(), sizeof(int), ROWS, g1);
    fclose(g1);
    cudaFree(dev_mask); cudaFree(dev_length); cudaFree(dev_start);
    return 0;
}
