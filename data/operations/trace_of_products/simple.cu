#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, float* dst, size_t size) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(dst), size * sizeof(float));
    if (!stream) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const float* dst, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), size * sizeof(float));
}
//@given

const int BATCH = 12;
const int M = 40;
const int N = 50;
const int BLOCK = 256;

__global__ void trace_product(const float* a, const float* b, float* trace) {
    __shared__ float sums[BLOCK];
    int t = threadIdx.x;
    const float* ma = a + (size_t)blockIdx.x * M * N;
    const float* mb = b + (size_t)blockIdx.x * M * N;
    float sum = 0.0f;
    for (int e = t; e < M * N; e += BLOCK) {
        int i = e / N;
        int j = e % N;
        sum += ma[e] * mb[j * M + i];
    }
    sums[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) trace[blockIdx.x] = sums[0];
}

int main() {
    float* h_a = new float[BATCH * M * N];
    float* h_b = new float[BATCH * N * M];
    float* h_trace = new float[BATCH];
    load("data/a.bin", h_a, BATCH * M * N);
    load("data/b.bin", h_b, BATCH * N * M);

    float *d_a, *d_b, *d_trace;
    cudaMalloc(&d_a, sizeof(float) * BATCH * M * N);
    cudaMalloc(&d_b, sizeof(float) * BATCH * N * M);
    cudaMalloc(&d_trace, BATCH * sizeof(float));
    cudaMemcpy(d_a, h_a, sizeof(float) * BATCH * M * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, sizeof(float) * BATCH * N * M, cudaMemcpyHostToDevice);

    trace_product<<<BATCH, BLOCK>>>(d_a, d_b, d_trace);

    cudaMemcpy(h_trace, d_trace, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/trace.bin", h_trace, BATCH);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_trace);
    delete[] h_a;
    delete[] h_b;
    delete[] h_trace;
    return 0;
}
