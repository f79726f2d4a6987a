#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 150;
constexpr int COLS = 200;

__global__ void last_above(const float* x, const float* limit, int* last, int* hits) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    float bound = limit[c];
    int where = -1;
    int count = 0;
    for (int r = 0; r < ROWS; ++r) {
        if (x[(size_t)r * COLS + c] > bound) {
            where = r;
            ++count;
        }
    }
    last[c] = where;
    hits[c] = count;
}

static void launch_last(const float* dX, const float* dLimit, int* dLast, int* dHits) {
    const int threads = 128;
    last_above<<<(COLS + threads - 1) / threads, threads>>>(dX, dLimit, dLast, dHits);
}

int main() {
    const size_t count = (size_t)ROWS * COLS;
    std::vector<float> h_x(count);
    std::vector<float> h_limit(COLS);
    std::vector<int> h_last(COLS);
    std::vector<int> h_hits(COLS);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    if (!in_x.read(reinterpret_cast<char*>(h_x.data()), count * sizeof(float))) {
        std::cerr << "no data/x.bin\n";
        return 1;
    }
    std::ifstream in_limit("data/limit.bin", std::ios::binary);
    if (!in_limit.read(reinterpret_cast<char*>(h_limit.data()), COLS * sizeof(float))) {
        std::cerr << "no data/limit.bin\n";
        return 1;
    }

    float *dX, *dLimit;
    int *dLast, *dHits;
    cudaMalloc(&dX, count * sizeof(float));
    cudaMalloc(&dLimit, COLS * sizeof(float));
    cudaMalloc(&dLast, COLS * sizeof(int));
    cudaMalloc(&dHits, COLS * sizeof(int));
    cudaMemcpy(dX, h_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dLimit, h_limit.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);

    launch_last(dX, dLimit, dLast, dHits);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_last.data(), dLast, COLS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_hits.data(), dHits, COLS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_last("data/last.bin", std::ios::binary);
    out_last.write(reinterpret_cast<const char*>(h_last.data()), COLS * sizeof(int));
    std::ofstream out_hits("data/hits.bin", std::ios::binary);
    out_hits.write(reinterpret_cast<const char*>(h_hits.data()), COLS * sizeof(int));
    cudaFree(dX);
    cudaFree(dLimit);
    cudaFree(dLast);
    cudaFree(dHits);
    return 0;
}
