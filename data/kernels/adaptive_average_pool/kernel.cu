#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarp = 32;
constexpr int kWarpsPerBlock = 8;
constexpr int kLimits[5] = {65535, 1024, 1024, 64, 64};

struct Geometry {
    int planes, height, width, outHeight, outWidth;
    __host__ __device__ int cells() const { return planes * outHeight * outWidth; }
};

struct Range {
    int begin, end;
    __device__ int size() const { return end - begin; }
};

// The entries of an axis of length `in` that belong to part o of `out`; neighbouring parts may overlap by one.
__device__ __forceinline__ Range part(int o, int in, int out) {
    return {o * in / out, ((o + 1) * in + out - 1) / out};
}

__global__ void averagePool(const __half* __restrict__ activations, float* __restrict__ pooled, Geometry g) {
    const int cell = blockIdx.x * kWarpsPerBlock + threadIdx.y;
    if (cell >= g.cells()) return;  // the same for all lanes of the warp
    const int plane = cell / (g.outHeight * g.outWidth);
    const Range rows = part(cell / g.outWidth % g.outHeight, g.height, g.outHeight);
    const Range columns = part(cell % g.outWidth, g.width, g.outWidth);

    const __half* corner =
        activations + (static_cast<size_t>(plane) * g.height + rows.begin) * g.width + columns.begin;
    const int count = rows.size() * columns.size();
    float sum = 0.0f;
    for (int e = threadIdx.x; e < count; e += kWarp) {
        sum += __half2float(corner[e / columns.size() * g.width + e % columns.size()]);
    }
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x == 0) pooled[cell] = sum / static_cast<float>(count);
}

struct DeviceDeleter {
    void operator()(void* pointer) const { cudaFree(pointer); }
};
template <typename T>
using DevicePtr = std::unique_ptr<T[], DeviceDeleter>;

static void require(bool condition, const std::string& message) {
    if (!condition) throw std::runtime_error(message);
}

static void checkCuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static DevicePtr<T> allocate(size_t count) {
    T* pointer = nullptr;
    checkCuda(cudaMalloc(&pointer, count * sizeof(T)));
    return DevicePtr<T>(pointer);
}

template <typename T>
static std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(host.data()), count * sizeof(T));
    require(file && file.peek() == std::ifstream::traits_type::eof(), path + ": missing or of another length");
    return host;
}

template <typename T>
static DevicePtr<T> loadToDevice(const std::string& path, size_t count) {
    const std::vector<T> host = load<T>(path, count);
    DevicePtr<T> device = allocate<T>(count);
    checkCuda(cudaMemcpy(device.get(), host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void store(const std::string& path, const DevicePtr<T>& device, size_t count) {
    std::vector<T> host(count);
    checkCuda(cudaMemcpy(host.data(), device.get(), count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
    file.close();
    require(!file.fail(), path + ": cannot be written");
}

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 5);
    for (int k = 0; k < 5; ++k) require(sizes[k] >= 1 && sizes[k] <= kLimits[k], "data/sizes.bin: out of range");
    const Geometry g{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]};

    const size_t entries = static_cast<size_t>(g.planes) * g.height * g.width;
    const DevicePtr<__half> activations = loadToDevice<__half>("data/activations.bin", entries);
    const DevicePtr<float> pooled = allocate<float>(g.cells());

    const int blocks = (g.cells() + kWarpsPerBlock - 1) / kWarpsPerBlock;
    averagePool<<<blocks, dim3(kWarp, kWarpsPerBlock)>>>(activations.get(), pooled.get(), g);
    checkCuda(cudaGetLastError());
    store("data/pooled.bin", pooled, g.cells());
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
