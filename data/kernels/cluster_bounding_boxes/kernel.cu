#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxPoints = 1 << 22, kMaxClusters = 1 << 16;
constexpr int kThreads = 256;

__device__ uint32_t keyOf(float value) {
    const uint32_t bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float valueOf(uint32_t key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7FFFFFFFu : ~key);
}

__global__ void initialise(uint32_t* keys, int* counts, int clusters) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < 6 * clusters) keys[i] = i % 6 < 3 ? 0xFFFFFFFFu : 0u;
    if (i < clusters) counts[i] = 0;
}

__global__ void accumulate(const float* __restrict__ points, const int* __restrict__ labels, uint32_t* keys,
                           int* counts, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int label = i < n ? labels[i] : -1;
    const unsigned group = __match_any_sync(0xFFFFFFFFu, label);
    if (label < 0) return;  // the whole group leaves
    const bool leader = (threadIdx.x & 31) == __ffs(group) - 1;
    for (int axis = 0; axis < 3; ++axis) {
        const uint32_t key = keyOf(points[3 * static_cast<size_t>(i) + axis]);
        const uint32_t low = __reduce_min_sync(group, key);
        const uint32_t high = __reduce_max_sync(group, key);
        if (leader) {
            atomicMin(&keys[6 * label + axis], low);
            atomicMax(&keys[6 * label + 3 + axis], high);
        }
    }
    if (leader) atomicAdd(&counts[label], __popc(group));
}

__global__ void decode(const uint32_t* __restrict__ keys, const int* __restrict__ counts, float* boxes, int clusters) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < 6 * clusters) boxes[i] = counts[i / 6] > 0 ? valueOf(keys[i]) : 0.0f;
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

template <typename T>
void writeDevice(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "download");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int blocksFor(int items) { return (items + kThreads - 1) / kThreads; }

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int n = sizes[0], clusters = sizes[1];
    if (n < 1 || n > kMaxPoints || clusters < 1 || clusters > kMaxClusters) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const auto points = readFile<float>("data/points.bin", 3 * static_cast<size_t>(n));
    const auto labels = readFile<int>("data/labels.bin", n);
    for (int label : labels) {
        if (label < -1 || label >= clusters) throw std::runtime_error("data/labels.bin: label out of range");
    }
    float *dPoints, *dBoxes;
    int *dLabels, *dCounts;
    uint32_t* dKeys;
    check(cudaMalloc(&dPoints, points.size() * sizeof(float)), "malloc");
    check(cudaMalloc(&dLabels, labels.size() * sizeof(int)), "malloc");
    check(cudaMalloc(&dBoxes, 6 * clusters * sizeof(float)), "malloc");
    check(cudaMalloc(&dKeys, 6 * clusters * sizeof(uint32_t)), "malloc");
    check(cudaMalloc(&dCounts, clusters * sizeof(int)), "malloc");
    check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice), "upload");
    check(cudaMemcpy(dLabels, labels.data(), labels.size() * sizeof(int), cudaMemcpyHostToDevice), "upload");

    initialise<<<blocksFor(6 * clusters), kThreads>>>(dKeys, dCounts, clusters);
    check(cudaGetLastError(), "initialise");
    accumulate<<<blocksFor(n), kThreads>>>(dPoints, dLabels, dKeys, dCounts, n);
    check(cudaGetLastError(), "accumulate");
    decode<<<blocksFor(6 * clusters), kThreads>>>(dKeys, dCounts, dBoxes, clusters);
    check(cudaGetLastError(), "decode");
    writeDevice("data/boxes.bin", dBoxes, 6 * static_cast<size_t>(clusters));
    writeDevice("data/counts.bin", dCounts, clusters);
    for (void* buffer : {(void*)dPoints, (void*)dLabels, (void*)dBoxes, (void*)dKeys, (void*)dCounts}) {
        check(cudaFree(buffer), "free");
    }
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
