#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readArray(const std::string& path, float* values, size_t n) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values), n * sizeof(float))) {
        std::cerr << "error reading " << path << std::endl;
        exit(1);
    }
}

void readArray(const std::string& path, int* values, size_t n) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values), n * sizeof(int))) {
        std::cerr << "failed to load " << path << std::endl;
        exit(1);
    }
}

void writeArray(const std::string& path, const float* values, size_t n) {
    std::ofstream f(path, std::ios::binary);
    f.write(reinterpret_cast<const char*>(values), n * sizeof(float));
}
//@given

constexpr int kRows = 150;
constexpr int kClasses = 120;
constexpr int kTotal = kRows * kClasses;

__global__ void margin_gradient(const float* scores, const int* labels, float* grad) {
    __shared__ float part[128];
    int row = blockIdx.x, t = threadIdx.x;
    const float* s = scores + (size_t)row * kClasses;
    float* g = grad + (size_t)row * kClasses;
    int y = labels[row];
    float sum = 0.0f;
    for (int k = t; k < kClasses; k += blockDim.x) {
        if (k == y) continue;
        float h = fmaxf(0.0f, 1.0f + s[k] - s[y]);
        g[k] = 2.0f * h / kRows;
        sum += h;
    }
    part[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) g[y] = -2.0f * part[0] / kRows;
}

int main() {
    float* h_scores = new float[kTotal];
    int* h_labels = new int[kRows];
    float* h_grad = new float[kTotal];
    readArray("data/scores.bin", h_scores, kTotal);
    readArray("data/labels.bin", h_labels, kRows);

    float *d_scores, *d_grad;
    int* d_labels;
    cudaMalloc(&d_scores, kTotal * sizeof(float));
    cudaMalloc(&d_labels, kRows * sizeof(int));
    cudaMalloc(&d_grad, kTotal * sizeof(float));
    cudaMemcpy(d_scores, h_scores, kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, h_labels, kRows * sizeof(int), cudaMemcpyHostToDevice);

    margin_gradient<<<kRows, 128>>>(d_scores, d_labels, d_grad);
    cudaDeviceSynchronize();

    cudaMemcpy(h_grad, d_grad, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/grad.bin", h_grad, kTotal);

    cudaFree(d_scores);
    cudaFree(d_labels);
    cudaFree(d_grad);
    delete[] h_scores;
    delete[] h_labels;
    delete[] h_grad;
    return 0;
}
