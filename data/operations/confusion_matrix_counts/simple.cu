#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, int* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data), count * sizeof(int))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const int* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(int));
    if (!file) std::cerr << "error writing " << path << std::endl;
}
//@given

const int N = 20000;
const int CLASSES = 7;

__global__ void count_pairs(const int* truth, const int* pred, int* matrix, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && truth[i] >= 0) atomicAdd(&matrix[truth[i] * CLASSES + pred[i]], 1);
}

int main() {
    int* h_truth = new int[N];
    load("data/truth.bin", h_truth, N);
    int* h_pred = new int[N];
    load("data/pred.bin", h_pred, N);
    int* h_matrix = new int[CLASSES * CLASSES];

    int *d_truth, *d_pred, *d_matrix;
    cudaMalloc(&d_truth, N * sizeof(int));
    cudaMalloc(&d_pred, N * sizeof(int));
    cudaMalloc(&d_matrix, CLASSES * CLASSES * sizeof(int));
    cudaMemcpy(d_truth, h_truth, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pred, h_pred, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_matrix, 0, CLASSES * CLASSES * sizeof(int));

    count_pairs<<<(N + 255) / 256, 256>>>(d_truth, d_pred, d_matrix, N);
    cudaDeviceSynchronize();

    cudaMemcpy(h_matrix, d_matrix, CLASSES * CLASSES * sizeof(int), cudaMemcpyDeviceToHost);
    save("data/matrix.bin", h_matrix, CLASSES * CLASSES);

    cudaFree(d_truth);
    cudaFree(d_pred);
    cudaFree(d_matrix);
    delete[] h_truth;
    delete[] h_pred;
    delete[] h_matrix;
    return 0;
}
