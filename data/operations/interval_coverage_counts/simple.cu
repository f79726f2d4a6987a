#include <climits>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int INTERVALS = 600;
const int LENGTH = 20000;
const int SPAN = 1024;
const int PARTS = (LENGTH + SPAN - 1) / SPAN;

__global__ void mark(const int* begin, const int* end, int* change) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < INTERVALS) {
        atomicAdd(&change[begin[k]], 1);
        atomicSub(&change[end[k]], 1);
    }
}

// Each thread sums one span of 1024 positions.
__global__ void span_totals(const int* change, int* totals) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= PARTS) return;
    int sum = 0;
    for (int p = s * SPAN; p < min((s + 1) * SPAN, LENGTH); ++p) sum += change[p];
    totals[s] = sum;
}

__global__ void exclusive_totals(int* totals, int* deepest) {
    int running = 0;
    for (int s = 0; s < PARTS; ++s) {
        int own = totals[s];
        totals[s] = running;
        running += own;
    }
    deepest[0] = INT_MIN;
}

__global__ void write_depth(const int* change, const int* totals, const int* base, int* depth, int* deepest) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= PARTS) return;
    int running = totals[s];
    int top = INT_MIN;
    for (int p = s * SPAN; p < min((s + 1) * SPAN, LENGTH); ++p) {
        running += change[p];
        depth[p] = running + base[p];
        top = max(top, depth[p]);
    }
    atomicMax(deepest, top);
}

void solve(const int* dev_begin, const int* dev_end, const int* dev_base, int* dev_depth, int* dev_deepest) {
    int* dev_change;
    cudaMalloc(&dev_change, (LENGTH + 1) * sizeof(int));
    cudaMemset(dev_change, 0, (LENGTH + 1) * sizeof(int));
    int* dev_totals;
    cudaMalloc(&dev_totals, PARTS * sizeof(int));
    mark<<<(INTERVALS + 256 - 1) / 256, 256>>>(dev_begin, dev_end, dev_change);
    span_totals<<<(PARTS + 64 - 1) / 64, 64>>>(dev_change, dev_totals);
    exclusive_totals<<<1, 1>>>(dev_totals, dev_deepest);
    write_depth<<<(PARTS + 64 - 1) / 64, 64>>>(dev_change, dev_totals, dev_base, dev_depth, dev_deepest);
    cudaFree(dev_change);
    cudaFree(dev_totals);
}

int main() {
    std::vector<int> h_begin(INTERVALS);
    std::vector<int> h_end(INTERVALS);
    std::vector<int> h_base(LENGTH);
    std::vector<int> h_depth(LENGTH);
    std::vector<int> h_deepest(1);
    std::ifstream in_begin("data/begin.bin", std::ios::binary);
    if (!in_begin.read(reinterpret_cast<char*>(h_begin.data()), INTERVALS * sizeof(int))) {
        std::cerr << "no data/begin.bin\n";
        return 1;
    }
    std::ifstream in_end("data/end.bin", std::ios::binary);
    if (!in_end.read(reinterpret_cast<char*>(h_end.data()), INTERVALS * sizeof(int))) {
        std::cerr << "no data/end.bin\n";
        return 1;
    }
    std::ifstream in_base("data/base.bin", std::ios::binary);
    if (!in_base.read(reinterpret_cast<char*>(h_base.data()), LENGTH * sizeof(int))) {
        std::cerr << "no data/base.bin\n";
        return 1;
    }

    int* dev_begin = nullptr;
    int* dev_end = nullptr;
    int* dev_base = nullptr;
    int* dev_depth = nullptr;
    int* dev_deepest = nullptr;
    cudaMalloc(&dev_begin, INTERVALS * sizeof(int));
    cudaMalloc(&dev_end, INTERVALS * sizeof(int));
    cudaMalloc(&dev_base, LENGTH * sizeof(int));
    cudaMalloc(&dev_depth, LENGTH * sizeof(int));
    cudaMalloc(&dev_deepest, sizeof(int));
    cudaMemcpy(dev_begin, h_begin.data(), INTERVALS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_end, h_end.data(), INTERVALS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_base, h_base.data(), LENGTH * sizeof(int), cudaMemcpyHostToDevice);

    solve(dev_begin, dev_end, dev_base, dev_depth, dev_deepest);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_depth.data(), dev_depth, LENGTH * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_deepest.data(), dev_deepest, sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_depth("data/depth.bin", std::ios::binary);
    out_depth.write(reinterpret_cast<const char*>(h_depth.data()), LENGTH * sizeof(int));
    std::ofstream out_deepest("data/deepest.bin", std::ios::binary);
    out_deepest.write(reinterpret_cast<const char*>(h_deepest.data()), sizeof(int));
    cudaFree(dev_begin);
    cudaFree(dev_end);
    cudaFree(dev_base);
    cudaFree(dev_depth);
    cudaFree(dev_deepest);
    return 0;
}
