#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_from(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes)) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
}

void write_to(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
}
//@given

inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

#define ROWS 20
#define VOCAB 700
const int THREADS = 256;

// Each thread sums a contiguous part of the row; the thread whose part passes the target searches inside it.
__global__ void sample_row(const int* __restrict__ weights, const unsigned int* __restrict__ draw,
                           int* __restrict__ token, long long* __restrict__ total) {
    __shared__ unsigned long long prefix[THREADS];
    const int* w = weights + (size_t)blockIdx.x * VOCAB;
    const int t = threadIdx.x;
    const int part = (VOCAB + THREADS - 1) / THREADS;
    const int begin = min(t * part, VOCAB), end = min(begin + part, VOCAB);
    unsigned long long mine = 0;
    for (int v = begin; v < end; ++v) mine += w[v];
    prefix[t] = mine;
    __syncthreads();
    for (int s = 1; s < THREADS; s *= 2) {
        unsigned long long left = t >= s ? prefix[t - s] : 0;
        __syncthreads();
        prefix[t] += left;
        __syncthreads();
    }
    const unsigned long long sum = prefix[THREADS - 1];
    const unsigned long long target = draw[blockIdx.x] * sum >> 32;
    unsigned long long running = prefix[t] - mine;
    if (running <= target && target < prefix[t]) {
        int v = begin;
        for (running += w[v]; running <= target; running += w[v]) ++v;
        token[blockIdx.x] = v;
    }
    if (t == 0) total[blockIdx.x] = (long long)sum;
}

int main() {
    int* weights = new int[ROWS * VOCAB];
    unsigned int* draw = new unsigned int[ROWS];
    int* token = new int[ROWS];
    long long* total = new long long[ROWS];
    read_from("data/weights.bin", weights, ROWS * VOCAB * sizeof(int));
    read_from("data/draw.bin", draw, ROWS * sizeof(unsigned int));

    int* dev_weights = nullptr;
    unsigned int* dev_draw = nullptr;
    int* dev_token = nullptr;
    long long* dev_total = nullptr;
    cudaMalloc(&dev_weights, ROWS * VOCAB * sizeof(int));
    cudaMalloc(&dev_draw, ROWS * sizeof(unsigned int));
    cudaMalloc((void**)&dev_token, ROWS * sizeof(int));
    cudaMalloc((void**)&dev_total, ROWS * sizeof(long long));
    cudaMemcpy(dev_weights, weights, ROWS * VOCAB * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_draw, draw, ROWS * sizeof(unsigned int), cudaMemcpyHostToDevice);

    sample_row<<<ROWS, THREADS>>>(dev_weights, dev_draw, dev_token, dev_total);
    cudaDeviceSynchronize();

    cudaMemcpy(token, dev_token, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(total, dev_total, ROWS * sizeof(long long), cudaMemcpyDeviceToHost);
    write_to("data/token.bin", token, ROWS * sizeof(int));
    write_to("data/total.bin", total, ROWS * sizeof(long long));

    cudaFree(dev_weights);
    cudaFree(dev_draw);
    cudaFree(dev_token);
    cudaFree(dev_total);
    delete[] weights;
    delete[] draw;
    delete[] token;
    delete[] total;
    return 0;
}
