#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 300;
const int DIM = 20;

__global__ void mahalanobis(const float* x, const float* mean, const float* precision, float* distance) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    float d[DIM];
    for (int i = 0; i < DIM; ++i) d[i] = x[r * DIM + i] - mean[i];
    float total = 0.0f;
    for (int i = 0; i < DIM; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < DIM; ++j) sum += precision[i * DIM + j] * d[j];
        total += d[i] * sum;
    }
    distance[r] = total;
}

void solve(const float* d_x, const float* d_mean, const float* d_precision, float* d_distance) {
    const int threads = 128;
    mahalanobis<<<(ROWS + threads - 1) / threads, threads>>>(d_x, d_mean, d_precision, d_distance);
}

int main() {
    const size_t n_x = (size_t)ROWS * DIM;
    const size_t n_precision = (size_t)DIM * DIM;
    std::vector<float> h_x(n_x);
    std::vector<float> h_mean(DIM);
    std::vector<float> h_precision(n_precision);
    std::vector<float> h_distance(ROWS);
    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(h_x.data()), n_x * sizeof(float))) {
        std::cerr << "data/x.bin is missing or short\n";
        return 1;
    }
    std::ifstream mean_in("data/mean.bin", std::ios::binary);
    if (!mean_in.read(reinterpret_cast<char*>(h_mean.data()), DIM * sizeof(float))) {
        std::cerr << "data/mean.bin is missing or short\n";
        return 1;
    }
    std::ifstream precision_in("data/precision.bin", std::ios::binary);
    if (!precision_in.read(reinterpret_cast<char*>(h_precision.data()), n_precision * sizeof(float))) {
        std::cerr << "data/precision.bin is missing or short\n";
        return 1;
    }

    float *d_x, *d_mean, *d_precision, *d_distance;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_mean, DIM * sizeof(float));
    cudaMalloc(&d_precision, n_precision * sizeof(float));
    cudaMalloc(&d_distance, ROWS * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_mean, h_mean.data(), DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_precision, h_precision.data(), n_precision * sizeof(float), cudaMemcpyHostToDevice);
    solve(d_x, d_mean, d_precision, d_distance);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }
    cudaMemcpy(h_distance.data(), d_distance, ROWS * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream distance_out("data/distance.bin", std::ios::binary);
    distance_out.write(reinterpret_cast<const char*>(h_distance.data()), ROWS * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_mean);
    cudaFree(d_precision);
    cudaFree(d_distance);
    return 0;
}
