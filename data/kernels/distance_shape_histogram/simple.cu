#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

__global__ void pairs(const int16_t* points, const int* edges, int* histogram, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = i + 1; j < n; ++j) {
        int square = 0;
        for (int a = 0; a < 3; ++a) {
            int d = points[3 * i + a] - points[3 * j + a];
            square += d * d;
        }
        int bin = 0;
        while (bin < bins - 1 && edges[bin] <= square) ++bin;
        atomicAdd(&histogram[bin], 1);
    }
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path);
    return values;
}

int main() {
    try {
        auto sizes = load<int>("data/sizes.bin", 2);
        int n = sizes[0], bins = sizes[1];
        if (n < 2 || n > 16384 || bins < 2 || bins > 256) throw std::runtime_error("data/sizes.bin: out of range");
        auto points = load<int16_t>("data/points.bin", 3 * n);
        auto edges = load<int>("data/edges.bin", bins - 1);
        std::vector<int> histogram(bins, 0);
        int16_t* dPoints;
        int *dEdges, *dHistogram;
        check(cudaMalloc(&dPoints, points.size() * sizeof(int16_t)));
        check(cudaMalloc(&dEdges, edges.size() * sizeof(int)));
        check(cudaMalloc(&dHistogram, bins * sizeof(int)));
        check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int16_t), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dEdges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dHistogram, histogram.data(), bins * sizeof(int), cudaMemcpyHostToDevice));
        pairs<<<(n + 31) / 32, 32>>>(dPoints, dEdges, dHistogram, n, bins);
        check(cudaGetLastError());
        check(cudaMemcpy(histogram.data(), dHistogram, bins * sizeof(int), cudaMemcpyDeviceToHost));
        check(cudaFree(dPoints));
        check(cudaFree(dEdges));
        check(cudaFree(dHistogram));
        std::ofstream out("data/histogram.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(histogram.data()), bins * sizeof(int));
        out.close();
        if (!out) throw std::runtime_error("data/histogram.bin: not written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
