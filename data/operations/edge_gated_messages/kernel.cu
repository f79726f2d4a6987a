#include <cuda_runtime.h>
#include <string>
#include <fstream>
#include <iostream>
#include <vector>
#include <cstdlib>

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void write(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kNodes = 400;
constexpr int kEdges = 2500;
constexpr int kChannels = 16;
constexpr int kThreads = 64;

// One block a vertex: the gates of up to 64 edges are computed once and kept in shared memory.
__global__ void receive_messages(const int* __restrict__ row_start, const int* __restrict__ source,
                                 const float* __restrict__ gate, const float* __restrict__ feature,
                                         float* updated) {
    __shared__ float g[kThreads];
    __shared__ int from[kThreads];
    const int v = blockIdx.x;
    const int begin = row_start[v], end = row_start[v + 1];
    float sum[(kChannels + kThreads - 1) / kThreads];
    for (int c = threadIdx.x, r = 0; c < kChannels; c += kThreads, ++r) sum[r] = feature[v * kChannels + c];
    for (int first = begin; first < end; first += kThreads) {
        int e = first + threadIdx.x;
        __syncthreads();
        if (e < end) {
            g[threadIdx.x] = 1.0f / (1.0f + __expf(-gate[e]));
            from[threadIdx.x] = source[e] * kChannels;
        }
        __syncthreads();
        int n = min(kThreads, end - first);
        for (int c = threadIdx.x, r = 0; c < kChannels; c += kThreads, ++r) {
            for (int k = 0; k < n; ++k) sum[r] = fmaf(g[k], feature[from[k] + c], sum[r]);
        }
    }
    for (int c = threadIdx.x, r = 0; c < kChannels; c += kThreads, ++r) updated[v * kChannels + c] = sum[r];
}

int main() {
    const auto host_row_start = read<int>("data/row_start.bin", kNodes + 1);
    const auto host_source = read<int>("data/source.bin", kEdges);
    const auto host_gate = read<float>("data/gate.bin", kEdges);
    const auto host_feature = read<float>("data/feature.bin", kNodes * kChannels);

    int* d_row_start;
    int* d_source;
    float* d_gate;
    float* d_feature;
    float* d_updated;
    cudaMalloc(&d_row_start, (kNodes + 1) * sizeof(int));
    cudaMalloc(&d_source, kEdges * sizeof(int));
    cudaMalloc(&d_gate, kEdges * sizeof(float));
    cudaMalloc(&d_feature, kNodes * kChannels * sizeof(float));
    cudaMalloc(&d_updated, kNodes * kChannels * sizeof(float));
    cudaMemcpy(d_row_start, host_row_start.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_source, host_source.data(), kEdges * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gate, host_gate.data(), kEdges * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_feature, host_feature.data(), kNodes * kChannels * sizeof(float), cudaMemcpyHostToDevice);

    receive_messages<<<kNodes, kThreads>>>(d_row_start, d_source, d_gate, d_feature, d_updated);

    std::vector<float> host_updated(kNodes * kChannels);
    cudaMemcpy(host_updated.data(), d_updated, kNodes * kChannels * sizeof(float), cudaMemcpyDeviceToHost);
    write("data/updated.bin", host_updated);

    cudaFree(d_row_start);
    cudaFree(d_source);
    cudaFree(d_gate);
    cudaFree(d_feature);
    cudaFree(d_updated);
    return 0;
}
