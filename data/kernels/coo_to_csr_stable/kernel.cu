#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSide = 4000000;
constexpr int kMaxEntries = 20000000;
constexpr int kThreads = 256;

__global__ void fillPositions(int* positions, int entries) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e < entries) positions[e] = e;
}

__global__ void gatherEntries(const int* __restrict__ positions, const int* __restrict__ colIndex,
                              const float* __restrict__ values, int* __restrict__ csrColIndex,
                              float* __restrict__ csrValues, int entries) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= entries) return;
    const int source = positions[e];
    csrColIndex[e] = colIndex[source];
    csrValues[e] = values[source];
}

__global__ void findRowOffsets(const int* __restrict__ sortedRows, int* __restrict__ rowPtr, int rows, int entries) {
    const int r = blockIdx.x * kThreads + threadIdx.x;
    if (r > rows) return;
    int low = 0, high = entries;  // the first sorted row >= r is in low..high
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (sortedRows[middle] < r) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    rowPtr[r] = low;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static int blocksFor(int count) { return (count + kThreads - 1) / kThreads; }

template <typename T>
class DeviceArray {
public:
    explicit DeviceArray(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }
    T* get() { return data_; }

    void write(const std::string& path) const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(T));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        throw std::runtime_error(path + ": missing or of the wrong length");
    }
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": cannot be read");
    }
    return values;
}

static std::vector<int> readIndices(const std::string& path, int entries, int bound) {
    std::vector<int> indices = readFile<int>(path, entries);
    for (int index : indices) {
        if (index < 0 || index >= bound) throw std::runtime_error(path + ": an index is outside the matrix");
    }
    return indices;
}

static void run() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int rows = sizes[0], cols = sizes[1], entries = sizes[2];
    if (rows < 1 || rows > kMaxSide || cols < 1 || cols > kMaxSide || entries < 1 || entries > kMaxEntries) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    DeviceArray<int> rowIndex(readIndices("data/row_index.bin", entries, rows));
    DeviceArray<int> colIndex(readIndices("data/col_index.bin", entries, cols));
    DeviceArray<float> values(readFile<float>("data/values.bin", entries));
    DeviceArray<int> sortedRows(entries), positions(entries), sortedPositions(entries);

    fillPositions<<<blocksFor(entries), kThreads>>>(positions.get(), entries);
    check(cudaGetLastError());

    int bits = 1;
    while ((rows - 1) >> bits > 0) ++bits;
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, rowIndex.get(), sortedRows.get(), positions.get(),
                                          sortedPositions.get(), entries, 0, bits));
    DeviceArray<char> storage(bytes);
    check(cub::DeviceRadixSort::SortPairs(storage.get(), bytes, rowIndex.get(), sortedRows.get(), positions.get(),
                                          sortedPositions.get(), entries, 0, bits));

    DeviceArray<int> csrColIndex(entries), rowPtr(static_cast<size_t>(rows) + 1);
    DeviceArray<float> csrValues(entries);
    gatherEntries<<<blocksFor(entries), kThreads>>>(sortedPositions.get(), colIndex.get(), values.get(),
                                                    csrColIndex.get(), csrValues.get(), entries);
    check(cudaGetLastError());
    findRowOffsets<<<blocksFor(rows + 1), kThreads>>>(sortedRows.get(), rowPtr.get(), rows, entries);
    check(cudaGetLastError());

    rowPtr.write("data/row_ptr.bin");
    csrColIndex.write("data/csr_col_index.bin");
    csrValues.write("data/csr_values.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
