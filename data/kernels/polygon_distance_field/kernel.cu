#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kChunk = 1024;

struct Edge {
    float ax, ay, ex, ey, inverse, slope, by, unused;
};
__constant__ Edge edges[kChunk];

// The state of a pixel: the smallest squared distance, negative when the number of crossings is odd.
__global__ void accumulate(float* state, int height, int width, int count) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float px = x + 0.5f, py = y + 0.5f;
    float nearest = fabsf(state[y * width + x]);
    bool inside = signbit(state[y * width + x]);
    for (int i = 0; i < count; ++i) {
        const Edge edge = edges[i];
        const float dx = px - edge.ax, dy = py - edge.ay;
        const float along = __saturatef((dx * edge.ex + dy * edge.ey) * edge.inverse);
        const float qx = fmaf(-along, edge.ex, dx), qy = fmaf(-along, edge.ey, dy);
        nearest = fminf(nearest, qx * qx + qy * qy);
        if ((edge.ay > py) != (edge.by > py) && dx < dy * edge.slope) inside = !inside;
    }
    state[y * width + x] = inside ? -nearest : nearest;
}

__global__ void takeRoots(float* state, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) state[i] = copysignf(sqrtf(fabsf(state[i])), state[i]);
}

struct CudaError : std::runtime_error {
    explicit CudaError(cudaError_t status) : std::runtime_error(cudaGetErrorString(status)) {}
};

inline void operator>>(cudaError_t status, const char* step) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: ", step);
    throw CudaError(status);
}

struct DeviceFree {
    void operator()(void* pointer) const { cudaFree(pointer); }
};
template <typename T>
using DeviceArray = std::unique_ptr<T[], DeviceFree>;

template <typename T>
DeviceArray<T> allocate(size_t count) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, count * sizeof(T)) >> "cudaMalloc";
    return DeviceArray<T>(static_cast<T*>(pointer));
}

template <typename T>
std::vector<T> readAll(const std::filesystem::path& path, size_t count) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) != count * sizeof(T) || error)
        throw std::runtime_error(path.string() + ": expected " + std::to_string(count * sizeof(T)) + " bytes");
    std::vector<T> values(count);
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    return values;
}

template <typename T>
DeviceArray<T> readToDevice(const std::filesystem::path& path, size_t count) {
    const std::vector<T> host = readAll<T>(path, count);
    DeviceArray<T> device = allocate<T>(count);
    cudaMemcpy(device.get(), host.data(), count * sizeof(T), cudaMemcpyHostToDevice) >> "copy to the device";
    return device;
}

template <typename T>
void writeAll(const std::filesystem::path& path, const DeviceArray<T>& device, size_t count) {
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device.get(), count * sizeof(T), cudaMemcpyDeviceToHost) >> "copy to the host";
    std::ofstream file(path, std::ios::binary);
    if (!file.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T)) || !file.flush())
        throw std::runtime_error(path.string() + ": cannot be written");
}

static std::vector<Edge> makeEdges(const std::vector<float2>& polygon) {
    std::vector<Edge> made;
    for (size_t i = 0; i < polygon.size(); ++i) {
        const float2 a = polygon[i], b = polygon[(i + 1) % polygon.size()];
        const float ex = b.x - a.x, ey = b.y - a.y, squared = ex * ex + ey * ey;
        made.push_back({a.x, a.y, ex, ey, squared > 0 ? 1.0f / squared : 0.0f, ey != 0 ? ex / ey : 0.0f, b.y, 0.0f});
    }
    return made;
}

static void run() {
    const std::vector<int> sizes = readAll<int>("data/sizes.bin", 3);
    const int height = sizes[0], width = sizes[1], vertices = sizes[2];
    if (height < 1 || height > 2048 || width < 1 || width > 2048 || vertices < 3 || vertices > 2048)
        throw std::runtime_error("data/sizes.bin: out of range");
    const std::vector<Edge> all = makeEdges(readAll<float2>("data/polygon.bin", vertices));
    const int pixels = height * width;
    DeviceArray<float> field = allocate<float>(pixels);
    const std::vector<float> start(pixels, FLT_MAX);
    cudaMemcpy(field.get(), start.data(), pixels * sizeof(float), cudaMemcpyHostToDevice) >> "start";

    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    for (int first = 0; first < vertices; first += kChunk) {
        const int count = std::min(kChunk, vertices - first);
        cudaMemcpyToSymbol(edges, all.data() + first, count * sizeof(Edge)) >> "edges";
        accumulate<<<grid, block>>>(field.get(), height, width, count);
        cudaGetLastError() >> "accumulate";
    }
    takeRoots<<<(pixels + 255) / 256, 256>>>(field.get(), pixels);
    cudaGetLastError() >> "takeRoots";
    writeAll("data/field.bin", field, pixels);
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
