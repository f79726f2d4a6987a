#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

void readArray(const char* path, float* values, size_t n) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values), n * sizeof(float))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void writeArray(const char* path, const float* values, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), n * sizeof(float));
}
//@given

const int ROWS = 150;
const int BINS = 100;

__global__ void js_divergence(const float* p, const float* q, float* divergence, int bins) {
    __shared__ float sums[256];
    size_t base = (size_t)blockIdx.x * bins;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < bins; k += blockDim.x) {
        float a = p[base + k], b = q[base + k];
        float m = 0.5f * (a + b);
        if (a > 0.0f) sum += a * log2f(a / m);
        if (b > 0.0f) sum += b * log2f(b / m);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) divergence[blockIdx.x] = 0.5f * sums[0];
}

int main() {
    float* h_p = new float[ROWS * BINS];
    readArray("data/p.bin", h_p, ROWS * BINS);
    float* h_q = new float[ROWS * BINS];
    readArray("data/q.bin", h_q, ROWS * BINS);
    float* h_divergence = new float[ROWS];

    float *d_p, *d_q, *d_divergence;
    cudaMalloc(&d_p, ROWS * BINS * sizeof(float));
    cudaMalloc(&d_q, ROWS * BINS * sizeof(float));
    cudaMalloc(&d_divergence, ROWS * sizeof(float));
    cudaMemcpy(d_p, h_p, ROWS * BINS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_q, h_q, ROWS * BINS * sizeof(float), cudaMemcpyHostToDevice);

    js_divergence<<<ROWS, 256>>>(d_p, d_q, d_divergence, BINS);

    cudaMemcpy(h_divergence, d_divergence, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/divergence.bin", h_divergence, ROWS);

    cudaFree(d_p);
    cudaFree(d_q);
    cudaFree(d_divergence);
    delete[] h_p;
    delete[] h_q;
    delete[] h_divergence;
    return 0;
}
