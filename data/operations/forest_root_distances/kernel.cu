#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kNodes = 3000;
constexpr int kBlock = 256;
constexpr int kMaxSteps = 10;

__global__ void first_step(const int* parent, const float* length, int* up, float* far) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < kNodes) {
        up[v] = parent[v];
        far[v] = parent[v] == v ? 0.0f : length[v];
    }
}

// Doubling: afterwards up[v] lies twice as many edges above v, or is the root.
__global__ void jump(const int* up, const float* far, int* new_up, float* new_far) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < kNodes) {
        int middle = up[v];
        new_up[v] = up[middle];
        new_far[v] = middle == v ? 0.0f : far[v] + far[middle];
    }
}

int main() {
    std::vector<int> h_parent(kNodes);
    std::vector<float> h_length(kNodes);
    std::vector<int> h_root(kNodes);
    std::vector<float> h_distance(kNodes);
    std::ifstream file_parent("data/parent.bin", std::ios::binary);
    if (!file_parent.read((char*)h_parent.data(), kNodes * sizeof(int))) {
        std::cerr << "cannot read data/parent.bin\n";
        return 1;
    }
    std::ifstream file_length("data/length.bin", std::ios::binary);
    file_length.read(reinterpret_cast<char*>(h_length.data()), kNodes * sizeof(float));
    if (!file_length) {
        std::cerr << "failed to read data/length.bin" << std::endl;
        return 1;
    }

    int* d_parent = nullptr;
    float* d_length = nullptr;
    int* d_root = nullptr;
    float* d_distance = nullptr;
    int* d_up = nullptr;
    float* d_far = nullptr;
    cudaMalloc(&d_parent, kNodes * sizeof(int));
    cudaMemcpy(d_parent, h_parent.data(), kNodes * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_length, kNodes * sizeof(float));
    cudaMemcpy(d_length, h_length.data(), kNodes * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_root, kNodes * sizeof(int));
    cudaMalloc(&d_distance, kNodes * sizeof(float));
    cudaMalloc(&d_up, kNodes * sizeof(int));
    cudaMalloc(&d_far, kNodes * sizeof(float));

    int blocks = (kNodes + kBlock - 1) / kBlock;
    first_step<<<blocks, kBlock>>>(d_parent, d_length, d_root, d_distance);
    for (int step = 0; step < kMaxSteps; step += 2) {
        jump<<<blocks, kBlock>>>(d_root, d_distance, d_up, d_far);
        jump<<<blocks, kBlock>>>(d_up, d_far, d_root, d_distance);
    }
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_root.data(), d_root, kNodes * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_distance.data(), d_distance, kNodes * sizeof(float), cudaMemcpyDeviceToHost);

    cudaFree(d_parent);
    cudaFree(d_length);
    cudaFree(d_root);
    cudaFree(d_distance);
    cudaFree(d_up);
    cudaFree(d_far);

    std::ofstream out_root("data/root.bin", std::ios::binary);
    out_root.write(reinterpret_cast<const char*>(h_root.data()), kNodes * sizeof(int));
    std::ofstream out_distance("data/distance.bin", std::ios::binary);
    out_distance.write(reinterpret_cast<const char*>(h_distance.data()), kNodes * sizeof(float));
    return 0;
}
