#include <cuda_runtime.h>
#include <vector>
#include <fstream>
#include <iostream>
#include <cfloat>
#include <cstdlib>
#include <string>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
    return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kNodes = 400;
constexpr int kEdges = 3000;
constexpr int kDim = 24;
constexpr int kWarps = 4;

// One warp a vertex: 32 neighbour numbers are read at once and handed round by shuffles.
__global__ void maxNeighborsWarp(const int* __restrict__ rowStart, const int* __restrict__ neighbor,
                                 const float* __restrict__ feature, float* __restrict__ pooled) {
    int v = blockIdx.x * kWarps + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (v >= kNodes) return;
    int begin = rowStart[v], end = rowStart[v + 1];
    for (int base = 0; base < kDim; base += 32) {
        int c = base + lane;
        float best = begin < end ? -FLT_MAX : 0.0f;
        for (int k = begin; k < end; k += 32) {
            int mine = k + lane < end ? neighbor[k + lane] : 0;
            int n = end - k < 32 ? end - k : 32;
            for (int j = 0; j < n; ++j) {
                int u = __shfl_sync(0xffffffffu, mine, j);
                if (c < kDim) best = fmaxf(best, feature[u * kDim + c]);
            }
        }
        if (c < kDim) pooled[v * kDim + c] = best;
    }
}

int main() {
    const auto h_row_start = from_file<int>("data/row_start.bin", kNodes + 1);
    const auto h_neighbor = from_file<int>("data/neighbor.bin", kEdges);
    const auto h_feature = from_file<float>("data/feature.bin", kNodes * kDim);

    int *d_row_start, *d_neighbor;
    float *d_feature, *d_pooled;
    cudaMalloc(&d_row_start, (kNodes + 1) * sizeof(int));
    cudaMemcpy(d_row_start, h_row_start.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_neighbor, kEdges * sizeof(int));
    cudaMemcpy(d_neighbor, h_neighbor.data(), kEdges * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_feature, kNodes * kDim * sizeof(float));
    cudaMemcpy(d_feature, h_feature.data(), kNodes * kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_pooled, kNodes * kDim * sizeof(float));

    maxNeighborsWarp<<<(kNodes + kWarps - 1) / kWarps, 32 * kWarps>>>(d_row_start, d_neighbor, d_feature,
            d_pooled);

    std::vector<float> h_pooled(kNodes * kDim);
    cudaMemcpy(h_pooled.data(), d_pooled, kNodes * kDim * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/pooled.bin", h_pooled);

    cudaFree(d_row_start);
    cudaFree(d_neighbor);
    cudaFree(d_feature);
    cudaFree(d_pooled);
    return 0;
}
