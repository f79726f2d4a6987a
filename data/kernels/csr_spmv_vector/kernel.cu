#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSide = 4000000;
constexpr int kMaxEntries = 40000000;
constexpr int kThreads = 256;
constexpr int kWarpSize = 32;

__global__ void spmv(const int32_t* __restrict__ rowPtr, const int32_t* __restrict__ colIndex,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    if (row >= rows) return;  // the same for all lanes of the warp

    const int end = rowPtr[row + 1];
    float sum = 0.0f;
    for (int e = rowPtr[row] + lane; e < end; e += kWarpSize) {
        sum += values[e] * __ldg(&x[colIndex[e]]);
    }
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (lane == 0) y[row] = sum;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

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
    std::vector<T> toHost() const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong size");
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": cannot be read");
    }
    return values;
}

static void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
    const int rows = sizes[0], cols = sizes[1], entries = sizes[2];
    if (rows < 1 || rows > kMaxSide || cols < 1 || cols > kMaxSide || entries < 1 || entries > kMaxEntries) {
        throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    const auto rowPtr = readFile<int32_t>("data/row_ptr.bin", rows + 1);
    const auto colIndex = readFile<int32_t>("data/col_index.bin", entries);
    const auto values = readFile<float>("data/values.bin", entries);
    const auto x = readFile<float>("data/x.bin", cols);

    if (rowPtr.front() != 0 || rowPtr.back() != entries) throw std::runtime_error("row_ptr: bad first or last value");
    for (int r = 0; r < rows; ++r) {
        if (rowPtr[r] > rowPtr[r + 1]) throw std::runtime_error("row_ptr: decreases");
    }
    for (int32_t c : colIndex) {
        if (c < 0 || c >= cols) throw std::runtime_error("col_index: out of range");
    }

    DeviceArray<int32_t> dRowPtr(rowPtr), dColIndex(colIndex);
    DeviceArray<float> dValues(values), dX(x), dY(rows);
    const int rowsPerBlock = kThreads / kWarpSize;
    spmv<<<(rows + rowsPerBlock - 1) / rowsPerBlock, kThreads>>>(dRowPtr.get(), dColIndex.get(), dValues.get(),
                                                                 dX.get(), dY.get(), rows);
    check(cudaGetLastError());
    const std::vector<float> y = dY.toHost();

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/y.bin: cannot be written");
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
