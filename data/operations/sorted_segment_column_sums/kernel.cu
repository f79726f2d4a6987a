#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kItems = 500;
constexpr int kCols = 40;
constexpr int kSegments = 60;
constexpr int kRun = 16;
constexpr int kBlock = 128;

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    explicit DeviceArray(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

template <typename T>
void load(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
        throw std::runtime_error("cannot read " + path);
}

// Every thread walks down kRun rows of one column and flushes its partial sum whenever the segment changes.
__global__ void walk_columns(const float* __restrict__ data, const int* __restrict__ segment,
                             const float* __restrict__ scale, float* sums) {
    const int c = blockIdx.y * kBlock + threadIdx.x;
    if (c >= kCols) return;
    const int begin = blockIdx.x * kRun;
    const int end = min(begin + kRun, kItems);
    float part = 0.0f;
    int current = segment[begin];
    for (int i = begin; i < end; ++i) {
        const int s = segment[i];
        if (s != current) {
            atomicAdd(&sums[(size_t)current * kCols + c], scale[current] * part);
            part = 0.0f;
            current = s;
        }
        part += data[(size_t)i * kCols + c];
    }
    atomicAdd(&sums[(size_t)current * kCols + c], scale[current] * part);
}

__global__ void count_items(const int* __restrict__ segment, int* counts) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < kItems) atomicAdd(&counts[segment[i]], 1);
}

int main() {
    const size_t data_len = (size_t)kItems * kCols;
    const size_t sums_len = (size_t)kSegments * kCols;
    std::vector<float> host_data(data_len);
    std::vector<int> host_segment(kItems);
    std::vector<float> host_scale(kSegments);
    std::vector<float> host_sums(sums_len);
    std::vector<int> host_counts(kSegments);
    load("data/data.bin", host_data);
    load("data/segment.bin", host_segment);
    load("data/scale.bin", host_scale);

    DeviceArray<float> d_data(data_len);
    DeviceArray<int> d_segment(kItems);
    DeviceArray<float> d_scale(kSegments);
    DeviceArray<float> d_sums(sums_len);
    DeviceArray<int> d_counts(kSegments);
    cudaMemcpy(d_data.data, host_data.data(), data_len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_segment.data, host_segment.data(), kItems * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_scale.data, host_scale.data(), kSegments * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemset(d_sums.data, 0, sums_len * sizeof(float));
    cudaMemset(d_counts.data, 0, kSegments * sizeof(int));
    dim3 grid((kItems + kRun - 1) / kRun, (kCols + kBlock - 1) / kBlock);
    walk_columns<<<grid, kBlock>>>(d_data.data, d_segment.data, d_scale.data, d_sums.data);
    count_items<<<(kItems + kBlock - 1) / kBlock, kBlock>>>(d_segment.data, d_counts.data);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    cudaMemcpy(host_sums.data(), d_sums.data, sums_len * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/sums.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_sums.data()),
        sums_len * sizeof(float));
    cudaMemcpy(host_counts.data(), d_counts.data, kSegments * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/counts.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_counts.data()),
        kSegments * sizeof(int));
    return 0;
}
