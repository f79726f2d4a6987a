#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void load_bin(const std::string& filename, T* dst, size_t n) {
    std::ifstream in(filename, std::ios::binary);
    if (!in) {
        std::cerr << "Cannot open " << filename << std::endl;
        exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), n * sizeof(T));
}

template <typename T>
void store_bin(const std::string& filename, const T* dst, size_t n) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), n * sizeof(T));
}
//@given

#define NODES 2000
#define EDGES 5000

// Positive floats keep their order when their bits are compared as integers.
__global__ void find_weight(const int* edge, const float* weight, int* bits) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= EDGES) return;
    int u = edge[2 * e], v = edge[2 * e + 1];
    if (u == v) return;
    int w = __float_as_int(weight[e]);
    atomicMin(&bits[u], w);
    atomicMin(&bits[v], w);
}

__global__ void find_number(const int* edge, const float* weight, const int* bits, int* number) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= EDGES) return;
    int u = edge[2 * e], v = edge[2 * e + 1];
    if (u == v) return;
    int w = __float_as_int(weight[e]);
    if (bits[u] == w) atomicMin(&number[u], e);
    if (bits[v] == w) atomicMin(&number[v], e);
}

__global__ void write_result(const int* bits, const int* number, float* lightest, int* chosen) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= NODES) return;
    bool none = number[v] >= EDGES;
    chosen[v] = none ? -1 : number[v];
    lightest[v] = none ? 0.0f : __int_as_float(bits[v]);
}

int main() {
    int* h_edge = new int[EDGES * 2];
    float* h_weight = new float[EDGES];
    float* h_lightest = new float[NODES];
    int* h_chosen = new int[NODES];
    load_bin("data/edge.bin", h_edge, EDGES * 2);
    load_bin("data/weight.bin", h_weight, EDGES);

    int *d_edge, *d_chosen, *d_bits, *d_number;
    float *d_weight, *d_lightest;
    cudaMalloc(&d_edge, EDGES * 2 * sizeof(int));
    cudaMalloc(&d_weight, EDGES * sizeof(float));
    cudaMalloc(&d_lightest, NODES * sizeof(float));
    cudaMalloc(&d_chosen, NODES * sizeof(int));
    cudaMalloc(&d_bits, NODES * sizeof(int));
    cudaMalloc(&d_number, NODES * sizeof(int));
    cudaMemcpy(d_edge, h_edge, EDGES * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, EDGES * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemset(d_bits, 0x7f, NODES * sizeof(int));
    cudaMemset(d_number, 0x7f, NODES * sizeof(int));
    find_weight<<<(EDGES + 255) / 256, 256>>>(d_edge, d_weight, d_bits);
    find_number<<<(EDGES + 255) / 256, 256>>>(d_edge, d_weight, d_bits, d_number);
    write_result<<<(NODES + 255) / 256, 256>>>(d_bits, d_number, d_lightest, d_chosen);
    cudaDeviceSynchronize();
    cudaMemcpy(h_lightest, d_lightest, NODES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_chosen, d_chosen, NODES * sizeof(int), cudaMemcpyDeviceToHost);

    store_bin("data/lightest.bin", h_lightest, NODES);
    store_bin("data/chosen.bin", h_chosen, NODES);

    cudaFree(d_edge);
    cudaFree(d_weight);
    cudaFree(d_lightest);
    cudaFree(d_chosen);
    cudaFree(d_bits);
    cudaFree(d_number);
    delete[] h_edge;
    delete[] h_weight;
    delete[] h_lightest;
    delete[] h_chosen;
    return 0;
}
