#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void computeErrors(const float* __restrict__ logits, const uint8_t* __restrict__ labels,
                              float* __restrict__ errors, int count) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < count) errors[i] = labels[i] ? 1.0f - logits[i] : 1.0f + logits[i];
}

// The Jaccard loss of the first k pixels, `seen` of which are among the `total` ones.
__device__ double jaccard(int k, int seen, int total) {
    return k == 0 ? 0.0 : 1.0 - static_cast<double>(total - seen) / (total + k - seen);
}

__global__ void sumTerms(const float* __restrict__ errors, const uint8_t* __restrict__ labels,
                         float* __restrict__ loss, int pixels) {
    using Scan = cub::BlockScan<int, kThreads>;
    using Reduce = cub::BlockReduce<double, kThreads>;
    __shared__ typename Scan::TempStorage scanStorage;
    __shared__ typename Reduce::TempStorage reduceStorage;
    const size_t first = static_cast<size_t>(blockIdx.x) * pixels;

    int total = 0;
    for (int base = 0; base < pixels; base += kThreads) {
        const int k = base + threadIdx.x;
        total += __syncthreads_count(k < pixels && labels[first + k]);
    }
    int carry = 0;
    double sum = 0.0;
    for (int base = 0; base < pixels; base += kThreads) {
        const int k = base + threadIdx.x;  // pixels before this one
        const int one = k < pixels && labels[first + k] ? 1 : 0;
        int seen, piece;
        Scan(scanStorage).InclusiveSum(one, seen, piece);
        __syncthreads();  // the storage is used again
        seen += carry;
        carry += piece;
        if (k < pixels && errors[first + k] > 0.0f) {
            sum += errors[first + k] * (jaccard(k + 1, seen, total) - jaccard(k, seen - one, total));
        }
    }
    sum = Reduce(reduceStorage).Sum(sum);
    if (threadIdx.x == 0) loss[blockIdx.x] = static_cast<float>(sum);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
struct Device {
    T* data = nullptr;
    explicit Device(size_t count) { check(cudaMalloc(&data, count * sizeof(T))); }
    explicit Device(const std::vector<T>& host) : Device(host.size()) {
        check(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device&) = delete;
    ~Device() { cudaFree(data); }
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int images = sizes[0], pixels = sizes[1];
    if (images < 1 || images > 4096 || pixels < 1 || pixels > 1000000) throw std::runtime_error("sizes out of range");
    const int64_t product = static_cast<int64_t>(images) * pixels;
    if (product > INT32_MAX - kThreads) throw std::runtime_error("data/sizes.bin: too many pixels");
    const int count = static_cast<int>(product);
    std::vector<int> starts(images + 1);
    for (int i = 0; i <= images; ++i) starts[i] = i * pixels;

    Device<float> logits(readFile<float>("data/logits.bin", count)), errors(count), sortedErrors(count), loss(images);
    Device<uint8_t> labels(readFile<uint8_t>("data/labels.bin", count)), sortedLabels(count);
    Device<int> offsets(starts);
    computeErrors<<<(count + kThreads - 1) / kThreads, kThreads>>>(logits.data, labels.data, errors.data, count);
    check(cudaGetLastError());
    size_t bytes = 0;
    check(cub::DeviceSegmentedRadixSort::SortPairsDescending(nullptr, bytes, errors.data, sortedErrors.data,
                                                             labels.data, sortedLabels.data, count, images,
                                                             offsets.data, offsets.data + 1));
    Device<char> storage(bytes);
    check(cub::DeviceSegmentedRadixSort::SortPairsDescending(storage.data, bytes, errors.data, sortedErrors.data,
                                                             labels.data, sortedLabels.data, count, images,
                                                             offsets.data, offsets.data + 1));
    sumTerms<<<images, kThreads>>>(sortedErrors.data, sortedLabels.data, loss.data, pixels);
    check(cudaGetLastError());

    std::vector<float> host(images);
    check(cudaMemcpy(host.data(), loss.data, images * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out("data/loss.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), images * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/loss.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
