#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSide = 16384;
constexpr int kWarp = 32;
constexpr int kOutputs = kWarp - 2;  // the first and the last lane only supply their neighbours
constexpr int kWarpsPerBlock = 4;
constexpr int kStrip = 32;  // rows a warp marches down

__global__ void laplacian9(const float* __restrict__ field, float* __restrict__ result, int height, int width,
                           float scale) {
    const int lane = threadIdx.x;
    const int x = static_cast<int>(blockIdx.x) * kOutputs + lane - 1;
    const int yBegin = (blockIdx.y * kWarpsPerBlock + threadIdx.y) * kStrip;
    if (yBegin >= height) return;  // the same for all lanes of the warp
    const int yEnd = min(yBegin + kStrip, height);
    const bool writes = lane >= 1 && lane <= kOutputs && x < width;

    const float* column = field + min(max(x, 0), width - 1);
    float above = column[max(yBegin - 1, 0) * width];
    float centre = column[yBegin * width];
    for (int y = yBegin; y < yEnd; ++y) {
        const float below = column[min(y + 1, height - 1) * width];
        const float side = above + 4.0f * centre + below;  // what this column gives to the points beside it
        const float left = __shfl_up_sync(0xffffffffu, side, 1);
        const float right = __shfl_down_sync(0xffffffffu, side, 1);
        if (writes) {
            result[y * width + x] = scale * (left + right + 4.0f * (above + below) - 20.0f * centre);
        }
        above = centre;
        centre = below;
    }
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
    const std::vector<int> sizes = load<int>("data/sizes.bin", 2);
    const int height = sizes[0], width = sizes[1];
    require(height >= 1 && height <= kMaxSide && width >= 1 && width <= kMaxSide, "data/sizes.bin: out of range");
    const float spacing = load<float>("data/spacing.bin", 1)[0];
    require(spacing > 0.0f, "data/spacing.bin: not positive");

    const size_t points = static_cast<size_t>(height) * width;
    const DevicePtr<float> field = loadToDevice<float>("data/field.bin", points);
    const DevicePtr<float> result = allocate<float>(points);

    const int rowsPerBlock = kWarpsPerBlock * kStrip;
    const dim3 block(kWarp, kWarpsPerBlock);
    const dim3 grid((width + kOutputs - 1) / kOutputs, (height + rowsPerBlock - 1) / rowsPerBlock);
    const float scale = 1.0f / (6.0f * spacing * spacing);
    laplacian9<<<grid, block>>>(field.get(), result.get(), height, width, scale);
    checkCuda(cudaGetLastError());
    store("data/laplacian.bin", result, points);
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
