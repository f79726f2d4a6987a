#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256, kMaxBlocks = 1024;
constexpr int kTaps = 9;
constexpr int kLimits[4] = {16, 512, 512, 64};  // of batch, height, width, quads

__device__ __forceinline__ void multiplyAdd(float4& sum, float4 a, float4 b) {
    sum.x = fmaf(a.x, b.x, sum.x);
    sum.y = fmaf(a.y, b.y, sum.y);
    sum.z = fmaf(a.z, b.z, sum.z);
    sum.w = fmaf(a.w, b.w, sum.w);
}

__device__ __forceinline__ float relu6(float value) { return fminf(fmaxf(value, 0.0f), 6.0f); }

__global__ void depthwise(const float4* __restrict__ image, const float4* __restrict__ filters,
                          const float4* __restrict__ bias, float4* __restrict__ features, int total, int height,
                          int width, int quads) {
    extern __shared__ float4 taps[];  // [tap][quad]
    for (int t = threadIdx.x; t < kTaps * quads; t += blockDim.x) taps[t] = filters[t];
    __syncthreads();

    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < total; k += gridDim.x * blockDim.x) {
        const int quad = k % quads;
        const int x = k / quads % width;
        const int y = k / quads / width % height;
        float4 sum = bias[quad];
        for (int i = -1; i <= 1; ++i) {
            if (y + i < 0 || y + i >= height) continue;
            for (int j = -1; j <= 1; ++j) {
                if (x + j < 0 || x + j >= width) continue;
                multiplyAdd(sum, image[k + (i * width + j) * quads], taps[((i + 1) * 3 + j + 1) * quads + quad]);
            }
        }
        features[k] = make_float4(relu6(sum.x), relu6(sum.y), relu6(sum.z), relu6(sum.w));
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
    const std::vector<int> sizes = load<int>("data/sizes.bin", 4);
    for (int k = 0; k < 4; ++k) require(sizes[k] >= 1 && sizes[k] <= kLimits[k], "data/sizes.bin: out of range");
    const int batch = sizes[0], height = sizes[1], width = sizes[2], quads = sizes[3];
    const int total = batch * height * width * quads;  // 2^28 at most

    const DevicePtr<float4> image = loadToDevice<float4>("data/image.bin", total);
    const DevicePtr<float4> filters = loadToDevice<float4>("data/filters.bin", kTaps * quads);
    const DevicePtr<float4> bias = loadToDevice<float4>("data/bias.bin", quads);
    const DevicePtr<float4> features = allocate<float4>(total);

    const int blocks = std::min((total + kThreads - 1) / kThreads, kMaxBlocks);
    const size_t sharedBytes = kTaps * quads * sizeof(float4);
    depthwise<<<blocks, kThreads, sharedBytes>>>(image.get(), filters.get(), bias.get(), features.get(), total, height,
                                                 width, quads);
    checkCuda(cudaGetLastError());
    store("data/features.bin", features, total);
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
