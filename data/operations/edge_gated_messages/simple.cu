#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define NODES 400
#define EDGES 2500
#define CHANNELS 16
#define TOTAL (NODES * CHANNELS)

__global__ void gatedMessages(const int* row_start, const int* source, const float* gate, const float* feature,
                              float* updated) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TOTAL) return;
    int v = i / CHANNELS;
    int c = i % CHANNELS;
    float sum = feature[i];
    for (int e = row_start[v]; e < row_start[v + 1]; ++e) {
        float g = 1.0f / (1.0f + expf(-gate[e]));
        sum += g * feature[source[e] * CHANNELS + c];
    }
    updated[i] = sum;
}

int main() {
    std::vector<int> h_row_start(NODES + 1);
    std::vector<int> h_source(EDGES);
    std::vector<float> h_gate(EDGES);
    std::vector<float> h_feature(TOTAL);
    std::vector<float> h_updated(TOTAL);
    std::ifstream is_row_start("data/row_start.bin", std::ios::binary);
    is_row_start.read(reinterpret_cast<char*>(h_row_start.data()), (NODES + 1) * sizeof(int));
    if (!is_row_start) {
        std::cerr << "missing data/row_start.bin" << std::endl;
        return 1;
    }
    std::ifstream is_source("data/source.bin", std::ios::binary);
    is_source.read(reinterpret_cast<char*>(h_source.data()), EDGES * sizeof(int));
    if (!is_source) {
        std::cerr << "failed to read data/source.bin" << std::endl;
        return 1;
    }
    std::ifstream is_gate("data/gate.bin", std::ios::binary);
    if (!is_gate.read((char*)h_gate.data(), EDGES * sizeof(float))) {
        std::cerr << "cannot read data/gate.bin\n";
        return 1;
    }
    std::ifstream is_feature("data/feature.bin", std::ios::binary);
    is_feature.read(reinterpret_cast<char*>(h_feature.data()), TOTAL * sizeof(float));
    if (!is_feature) {
        std::cerr << "cannot read data/feature.bin" << std::endl;
        return 1;
    }

    int *d_row_start, *d_source;
    float *d_gate, *d_feature, *d_updated;
    cudaMalloc(&d_row_start, (NODES + 1) * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start.data(), (NODES + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_source, EDGES * sizeof(int));
    cudaMemcpy(d_source, h_source.data(), EDGES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_gate, EDGES * sizeof(float));
    cudaMemcpy(d_gate, h_gate.data(), EDGES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_feature, TOTAL * sizeof(float));
    cudaMemcpy(d_feature, h_feature.data(), TOTAL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_updated, TOTAL * sizeof(float));

    const int block = 256;
    gatedMessages<<<(TOTAL + block - 1) / block, block>>>(d_row_start, d_source, d_gate, d_feature, d_updated);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_updated.data(), d_updated, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/updated.bin", std::ios::binary);
    fout.write(reinterpret_cast<const char*>(h_updated.data()), TOTAL * sizeof(float));

    cudaFree(d_row_start);
    cudaFree(d_source);
    cudaFree(d_gate);
    cudaFree(d_feature);
    cudaFree(d_updated);
    return 0;
}
