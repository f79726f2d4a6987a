#include <cuda_runtime.h>
#include <iostream>
#include <vector>
#include <fstream>
#include <string>
#include <cstdlib>

constexpr int kNodes = 500;
constexpr int kEdges = 5000;
constexpr int kCommunities = 11;
constexpr int kBlock = 256;

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    explicit DeviceArray(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

// Every block gathers its edges in shared counters before it touches the global ones.
__global__ void collect(const int* __restrict__ edge, const float* __restrict__ weight,
                        const int* __restrict__ community, float* inside, float* ends) {
    __shared__ float my_inside[kCommunities];
    __shared__ float my_ends[kCommunities];
    for (int c = threadIdx.x; c < kCommunities; c += kBlock) {
        my_inside[c] = 0.0f;
        my_ends[c] = 0.0f;
    }
    __syncthreads();
    for (int e = blockIdx.x * kBlock + threadIdx.x; e < kEdges; e += gridDim.x * kBlock) {
        int a = community[edge[2 * e]], b = community[edge[2 * e + 1]];
        if (a == b) atomicAdd(&my_inside[a], weight[e]);
        atomicAdd(&my_ends[a], weight[e]);
        atomicAdd(&my_ends[b], weight[e]);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < kCommunities; c += kBlock) {
        atomicAdd(&inside[c], my_inside[c]);
        atomicAdd(&ends[c], my_ends[c]);
    }
}

// The sum over all ends is twice the weight of the graph.
__global__ void modularity_terms(const float* inside, const float* ends, float* term) {
    __shared__ float sum[kBlock];
    float part = 0.0f;
    for (int c = threadIdx.x; c < kCommunities; c += kBlock) part += ends[c];
    sum[threadIdx.x] = part;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sum[threadIdx.x] += sum[threadIdx.x + s];
        __syncthreads();
    }
    float twice = sum[0];
    for (int c = threadIdx.x; c < kCommunities; c += kBlock) {
        float share = ends[c] / twice;
        term[c] = 2.0f * inside[c] / twice - share * share;
    }
}

int main() {
    std::vector<int> host_edge = read_input<int>("data/edge.bin", kEdges * 2);
    std::vector<float> host_weight = read_input<float>("data/weight.bin", kEdges);
    std::vector<int> host_community = read_input<int>("data/community.bin", kNodes);
    std::vector<float> host_inside(kCommunities);
    std::vector<float> host_term(kCommunities);

    DeviceArray<int> d_edge(kEdges * 2);
    DeviceArray<float> d_weight(kEdges);
    DeviceArray<int> d_community(kNodes);
    DeviceArray<float> d_inside(kCommunities);
    DeviceArray<float> d_term(kCommunities);
    DeviceArray<float> d_ends(kCommunities);
    cudaMemcpy(d_edge.data, host_edge.data(), kEdges * 2 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight.data, host_weight.data(), kEdges * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_community.data, host_community.data(), kNodes * sizeof(int), cudaMemcpyHostToDevice);

    cudaMemset(d_inside.data, 0, kCommunities * sizeof(float));
    cudaMemset(d_ends.data, 0, kCommunities * sizeof(float));
    collect<<<256, kBlock>>>(d_edge.data, d_weight.data, d_community.data, d_inside.data, d_ends.data);
    modularity_terms<<<1, kBlock>>>(d_inside.data, d_ends.data, d_term.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }
    cudaMemcpy(host_inside.data(), d_inside.data, kCommunities * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_term.data(), d_term.data, kCommunities * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/inside.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_inside.data()),
                    kCommunities * sizeof(float));
    std::ofstream("data/term.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_term.data()),
            kCommunities * sizeof(float));
    return 0;
}
