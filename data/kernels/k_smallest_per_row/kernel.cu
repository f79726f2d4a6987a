#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using Key = unsigned long long;  // number in the upper half, column in the lower

constexpr int kMaxRows = 65536;
constexpr int kMinCols = 32, kMaxCols = 16384;
constexpr int kMaxK = 32;
constexpr int kWarpsPerBlock = 4;
constexpr unsigned kAll = 0xffffffffu;
constexpr Key kWorst = ~0ull;

__device__ Key pack(float value, int column) {
    const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 becomes 0
    const uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return static_cast<Key>(ordered) << 32 | static_cast<uint32_t>(column);
}

__device__ float valueOf(Key key) {
    const uint32_t ordered = static_cast<uint32_t>(key >> 32);
    return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered);
}

// The smaller key goes to the lower lane if ascending, else to the upper.
__device__ Key exchange(Key key, int lane, int distance, bool ascending) {
    const Key other = __shfl_xor_sync(kAll, key, distance);
    const bool lower = (lane & distance) == 0;
    return lower == ascending ? min(key, other) : max(key, other);
}

__device__ Key sortDescending(Key key, int lane) {
    for (int size = 2; size <= 32; size *= 2) {
        const bool ascending = (lane & size) != 0;  // never in the last round
        for (int distance = size / 2; distance > 0; distance /= 2) key = exchange(key, lane, distance, ascending);
    }
    return key;
}

__global__ void smallestPerRow(const float* __restrict__ x, int rows, int cols, int k, float* __restrict__ values,
                               int32_t* __restrict__ columns) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * kWarpsPerBlock + threadIdx.y;
    if (row >= rows) return;
    const float* in = x + static_cast<size_t>(row) * cols;

    Key best = kWorst;
    for (int first = 0; first < cols; first += 32) {
        const int c = first + lane;
        Key key = c < cols ? pack(in[c], c) : kWorst;
        const Key limit = __shfl_sync(kAll, best, k - 1);
        if (!__any_sync(kAll, key < limit)) continue;
        key = sortDescending(key, lane);
        best = min(best, key);
        for (int distance = 16; distance > 0; distance /= 2) best = exchange(best, lane, distance, true);
    }
    if (lane < k) {
        const size_t at = static_cast<size_t>(row) * k + lane;
        values[at] = valueOf(best);
        columns[at] = static_cast<int32_t>(best & 0xffffffffu);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class DeviceVector {
public:
    explicit DeviceVector(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    DeviceVector(const DeviceVector&) = delete;
    DeviceVector& operator=(const DeviceVector&) = delete;
    ~DeviceVector() { cudaFree(data_); }
    T* data() { return data_; }

    void save(const std::string& path) const {
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

static void readFile(const std::string& path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) throw std::runtime_error(path + ": cannot be read");
}

static void run() {
    int32_t sizes[3];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], cols = sizes[1], k = sizes[2];
    if (rows < 1 || rows > kMaxRows || cols < kMinCols || cols > kMaxCols || k < 1 || k > kMaxK) {
        throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    std::vector<float> x(static_cast<size_t>(rows) * cols);
    readFile("data/x.bin", x.data(), x.size() * sizeof(float));

    DeviceVector<float> dX(x.size()), values(static_cast<size_t>(rows) * k);
    DeviceVector<int32_t> columns(static_cast<size_t>(rows) * k);
    check(cudaMemcpy(dX.data(), x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    const int blocks = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
    smallestPerRow<<<blocks, dim3(32, kWarpsPerBlock)>>>(dX.data(), rows, cols, k, values.data(), columns.data());
    check(cudaGetLastError());
    values.save("data/values.bin");
    columns.save("data/columns.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    return 0;
}
