#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define ROWS 60
#define COLS 700
#define BLOCK 128

__global__ void row_mode(const unsigned char* codes, unsigned char* mode, int* times) {
    __shared__ int counts[64];
    const unsigned char* row = codes + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    if (t < 64) counts[t] = 0;
    __syncthreads();
    for (int c = t; c < COLS; c += BLOCK) atomicAdd(&counts[row[c]], 1);
    __syncthreads();
    if (t == 0) {
        int best = 0;
        for (int k = 1; k < 64; ++k) {
            if (counts[k] > counts[best]) best = k;
        }
        mode[blockIdx.x] = (unsigned char)best;
        times[blockIdx.x] = counts[best];
    }
}

int main() {
    const size_t elements = (size_t)ROWS * COLS;
    std::vector<unsigned char> h_codes(elements), h_mode(ROWS);
    std::vector<int> h_times(ROWS);
    FILE* f = fopen("data/codes.bin", "rb");
    if (!f || fread(h_codes.data(), sizeof(unsigned char), elements, f) != elements) return 1;
    fclose(f);
    unsigned char* dev_codes;
    unsigned char* dev_mode;
    int* dev_times;
    cudaMalloc(&dev_codes, elements * sizeof(unsigned char));
    cudaMalloc(&dev_mode, ROWS * sizeof(unsigned char));
    cudaMalloc(&dev_times, ROWS * sizeof(int));
    cudaMemcpy(dev_codes, h_codes.data(), elements * sizeof(unsigned char), cudaMemcpyHostToDevice);
    row_mode<<<ROWS, BLOCK>>>(dev_codes, dev_mode, dev_times);
    cudaMemcpy(h_mode.data(), dev_mode, ROWS * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_times.data(), dev_times, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* g0 = fopen("data/mode.bin", "wb");
    fwrite(h_mode.data(), sizeof(unsigned char), ROWS, g0);
    fclose(g0);
    FILE* g1 = fopen("data/times.bin", "wb");
    fwrite(h_times.data(), sizeof(int), ROWS, g1);
    fclose(g1);
    cudaFree(dev_codes); cudaFree(dev_mode); cudaFree(dev_times);
}
