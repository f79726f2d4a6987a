#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSide = 4096;  // 4096 * 4096 * 255 still fits 32 bits
constexpr int kWarp = 32;
constexpr int kRowsPerBlock = 8;
constexpr int kSegments = 16;  // of a column
constexpr unsigned kAllLanes = 0xffffffffu;

// Running sums along each row, one warp per row; row 0 and column 0 of the table stay zero.
__global__ void scanRows(const uint8_t* __restrict__ gray, uint32_t* __restrict__ table, int height, int width) {
    const int lane = threadIdx.x;
    const int y = blockIdx.x * kRowsPerBlock + threadIdx.y;
    if (y >= height) return;  // the same for all lanes of the warp
    const uint8_t* row = gray + static_cast<size_t>(y) * width;
    uint32_t* target = table + static_cast<size_t>(y + 1) * (width + 1) + 1;

    uint32_t carry = 0;
    for (int x0 = 0; x0 < width; x0 += kWarp) {
        const int x = x0 + lane;
        uint32_t sum = x < width ? row[x] : 0;
        for (int distance = 1; distance < kWarp; distance *= 2) {
            const uint32_t left = __shfl_up_sync(kAllLanes, sum, distance);
            if (lane >= distance) sum += left;
        }
        sum += carry;
        if (x < width) target[x] = sum;
        carry = __shfl_sync(kAllLanes, sum, kWarp - 1);
    }
}

// Running sums down the columns: segments are summed first, so that each one knows what lies above it.
__global__ void scanColumns(uint32_t* table, int height, int width) {
    __shared__ uint32_t sums[kSegments][kWarp];
    const int column = blockIdx.x * kWarp + threadIdx.x;
    const int length = (height + kSegments - 1) / kSegments;
    const int begin = min(static_cast<int>(threadIdx.y) * length, height);
    const int end = min(begin + length, height);
    const size_t pitch = width + 1;
    uint32_t* top = table + pitch + 1 + column;

    uint32_t sum = 0;
    if (column < width) {
        for (int y = begin; y < end; ++y) sum += top[y * pitch];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    if (column < width) {
        uint32_t running = 0;
        for (int segment = 0; segment < threadIdx.y; ++segment) running += sums[segment][threadIdx.x];
        for (int y = begin; y < end; ++y) {
            running += top[y * pitch];
            top[y * pitch] = running;
        }
    }
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
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

template <typename T>
static void writeFile(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

static void run() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) {
        throw std::runtime_error("data/sizes.bin: height or width is out of range");
    }
    const size_t entries = static_cast<size_t>(height + 1) * (width + 1);
    DeviceArray<uint8_t> gray(readFile<uint8_t>("data/gray.bin", static_cast<size_t>(height) * width));
    DeviceArray<uint32_t> table(entries);
    check(cudaMemset(table.get(), 0, entries * sizeof(uint32_t)));

    scanRows<<<(height + kRowsPerBlock - 1) / kRowsPerBlock, dim3(kWarp, kRowsPerBlock)>>>(gray.get(), table.get(),
                                                                                           height, width);
    check(cudaGetLastError());
    scanColumns<<<(width + kWarp - 1) / kWarp, dim3(kWarp, kSegments)>>>(table.get(), height, width);
    check(cudaGetLastError());
    writeFile("data/integral.bin", table.toHost());
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
