#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t n) {
    std::vector<T> values(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), n * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void save_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ITEMS = 500;
constexpr int COLS = 40;
constexpr int SEGMENTS = 60;

__device__ int first_at_least(const int* segment, int key) {
    int lo = 0, hi = ITEMS;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (segment[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

__global__ void segment_sums(const float* data, const int* segment, const float* scale, float* sums,
                             int* counts) {
    __shared__ int begin, end;
    int s = blockIdx.x;
    if (threadIdx.x == 0) {
        begin = first_at_least(segment, s);
        end = first_at_least(segment, s + 1);
        counts[s] = end - begin;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < COLS; c += blockDim.x) {
        float total = 0.0f;
        for (int i = begin; i < end; i++) total += data[(size_t)i * COLS + c];
        sums[(size_t)s * COLS + c] = scale[s] * total;
    }
}

int main() {
    constexpr size_t data_total = (size_t)ITEMS * COLS;
    constexpr size_t sums_total = (size_t)SEGMENTS * COLS;
    const auto data = load_file<float>("data/data.bin", data_total);
    auto segment = load_file<int>("data/segment.bin", ITEMS);
    auto scale = load_file<float>("data/scale.bin", SEGMENTS);
    std::vector<float> sums(sums_total);
    std::vector<int> counts(SEGMENTS);

    float *dev_data, *dev_scale, *dev_sums;
    int *dev_segment, *dev_counts;
    cudaMalloc(&dev_data, data_total * sizeof(float));
    cudaMalloc(&dev_segment, ITEMS * sizeof(int));
    cudaMalloc(&dev_scale, SEGMENTS * sizeof(float));
    cudaMalloc(&dev_sums, sums_total * sizeof(float));
    cudaMalloc(&dev_counts, SEGMENTS * sizeof(int));

    cudaMemcpy(dev_data, data.data(), data_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_segment, segment.data(), ITEMS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_scale, scale.data(), SEGMENTS * sizeof(float), cudaMemcpyHostToDevice);

    segment_sums<<<SEGMENTS, 64>>>(dev_data, dev_segment, dev_scale, dev_sums, dev_counts);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(sums.data(), dev_sums, sums_total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(counts.data(), dev_counts, SEGMENTS * sizeof(int), cudaMemcpyDeviceToHost);
    save_file("data/sums.bin", sums);
    save_file("data/counts.bin", counts);

    cudaFree(dev_data);
    cudaFree(dev_segment);
    cudaFree(dev_scale);
    cudaFree(dev_sums);
    cudaFree(dev_counts);
    return 0;
}
