#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSide = 8192;
constexpr int kChannels = 3;

// Where an output row or column takes its two source lines, and the weight of the second in 1/256.
struct Tap {
    int first, second, weight;
};

__global__ void makeTaps(Tap* taps, int in, int out) {
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= out) return;
    long long position = (2LL * o + 1) * in * 32768 / out - 32768;  // pixel centres, 16 fractional bits
    position = min(max(position, 0LL), static_cast<long long>(in - 1) << 16);
    const int first = static_cast<int>(position >> 16);
    taps[o] = {first, min(first + 1, in - 1), static_cast<int>(position >> 8) & 255};
}

__global__ void resize(const uint8_t* __restrict__ image, uint8_t* __restrict__ resized, const Tap* __restrict__ rows,
                       const Tap* __restrict__ columns, int width, int outHeight, int outWidth) {
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= outWidth || oy >= outHeight) return;

    const Tap vertical = rows[oy], horizontal = columns[ox];
    const uint8_t* upper = image + static_cast<size_t>(vertical.first) * width * kChannels;
    const uint8_t* lower = image + static_cast<size_t>(vertical.second) * width * kChannels;
    const int left = horizontal.first * kChannels, right = horizontal.second * kChannels;
    uint8_t* target = resized + (static_cast<size_t>(oy) * outWidth + ox) * kChannels;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
        const int top = (256 - horizontal.weight) * upper[left + c] + horizontal.weight * upper[right + c];
        const int bottom = (256 - horizontal.weight) * lower[left + c] + horizontal.weight * lower[right + c];
        const int sum = (256 - vertical.weight) * top + vertical.weight * bottom;
        target[c] = static_cast<uint8_t>((sum + 32768) >> 16);
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

static DevicePtr<Tap> tapsFor(int in, int out) {
    DevicePtr<Tap> taps = allocate<Tap>(out);
    makeTaps<<<(out + 255) / 256, 256>>>(taps.get(), in, out);
    checkCuda(cudaGetLastError());
    return taps;
}

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 4);
    for (int size : sizes) require(size >= 1 && size <= kMaxSide, "data/sizes.bin: out of range");
    const int height = sizes[0], width = sizes[1], outHeight = sizes[2], outWidth = sizes[3];
    const size_t resultBytes = static_cast<size_t>(outHeight) * outWidth * kChannels;

    const auto image = loadToDevice<uint8_t>("data/image.bin", static_cast<size_t>(height) * width * kChannels);
    const auto resized = allocate<uint8_t>(resultBytes);
    const auto rows = tapsFor(height, outHeight), columns = tapsFor(width, outWidth);

    const dim3 block(32, 8);
    const dim3 grid((outWidth + block.x - 1) / block.x, (outHeight + block.y - 1) / block.y);
    resize<<<grid, block>>>(image.get(), resized.get(), rows.get(), columns.get(), width, outHeight, outWidth);
    checkCuda(cudaGetLastError());
    store("data/resized.bin", resized, resultBytes);
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
