#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kSide = 3;  // of the filter
constexpr int kLimits[5] = {512, 1024, 1024, 16, 4};

struct Geometry {
    int channels, height, width, dilation, stride;
    __host__ __device__ int outHeight() const { return (height - 1) / stride + 1; }
    __host__ __device__ int outWidth() const { return (width - 1) / stride + 1; }
};

// Half-precision values are only moved, so their bits are enough.
__global__ void im2col(const uint16_t* __restrict__ image, uint16_t* __restrict__ columns, Geometry g) {
    const int outWidth = g.outWidth();
    const int positions = g.outHeight() * outWidth;
    const int p = blockIdx.x * kThreads + threadIdx.x;
    if (p >= positions) return;
    const int y0 = p / outWidth * g.stride - g.dilation;
    const int x0 = p % outWidth * g.stride - g.dilation;

    const uint16_t* plane = image + static_cast<size_t>(blockIdx.y) * g.height * g.width;
    uint16_t* target = columns + static_cast<size_t>(blockIdx.y) * kSide * kSide * positions + p;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; ++j) {
            const int y = y0 + i * g.dilation, x = x0 + j * g.dilation;
            const bool inside = y >= 0 && y < g.height && x >= 0 && x < g.width;
            const uint16_t value = inside ? __ldg(&plane[y * g.width + x]) : uint16_t{0};
            __stcs(target, value);  // not read again here, so it need not push the image out of the cache
            target += positions;
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
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 5);
    for (int k = 0; k < 5; ++k) {
        if (sizes[k] < 1 || sizes[k] > kLimits[k]) throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    const Geometry g{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]};
    const int positions = g.outHeight() * g.outWidth();

    const size_t pixels = static_cast<size_t>(g.channels) * g.height * g.width;

    DeviceArray<uint16_t> image(readFile<uint16_t>("data/image.bin", pixels));
    DeviceArray<uint16_t> columns(static_cast<size_t>(g.channels) * kSide * kSide * positions);

    const dim3 grid((positions + kThreads - 1) / kThreads, g.channels);
    im2col<<<grid, kThreads>>>(image.get(), columns.get(), g);
    check(cudaGetLastError());
    writeFile("data/columns.bin", columns.toHost());
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
