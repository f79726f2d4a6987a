#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

constexpr int kMaxSize = 16384;
constexpr int kThreads = 128;
constexpr int kStreams = 3;
constexpr int kChunks = 6;

__global__ void softmaxBackward(const float* __restrict__ y, const float* __restrict__ dy, float* __restrict__ dx,
                                int cols, float inverseTemperature) {
    using Reduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float dot;
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;

    float part = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) part += y[start + c] * dy[start + c];
    const float total = Reduce(storage).Sum(part);
    if (threadIdx.x == 0) dot = total;
    __syncthreads();

    for (int c = threadIdx.x; c < cols; c += kThreads) {
        dx[start + c] = y[start + c] * (dy[start + c] - dot) * inverseTemperature;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct PinnedFloats {
    float* data = nullptr;
    explicit PinnedFloats(size_t count) { check(cudaMallocHost(&data, count * sizeof(float))); }
    PinnedFloats(const PinnedFloats&) = delete;
    ~PinnedFloats() { cudaFreeHost(data); }
};

struct DeviceFloats {
    float* data = nullptr;
    explicit DeviceFloats(size_t count) { check(cudaMalloc(&data, count * sizeof(float))); }
    DeviceFloats(const DeviceFloats&) = delete;
    ~DeviceFloats() { cudaFree(data); }
};

struct Stream {
    cudaStream_t handle = nullptr;
    Stream() { check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
    Stream(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(handle); }
};

static void readFile(const std::string& path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(static_cast<char*>(target), bytes)) throw std::runtime_error(path + ": cannot be read");
}

static void run() {
    int sizes[2];
    float temperature;
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    readFile("data/temperature.bin", &temperature, sizeof(temperature));
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxSize || cols < 1 || cols > kMaxSize) {
        throw std::runtime_error("data/sizes.bin: rows or cols out of range");
    }
    if (!(temperature > 0.0f)) throw std::runtime_error("data/temperature.bin: not positive");

    const size_t count = static_cast<size_t>(rows) * cols;
    PinnedFloats y(count), dy(count), dx(count);
    readFile("data/y.bin", y.data, count * sizeof(float));
    readFile("data/dy.bin", dy.data, count * sizeof(float));
    DeviceFloats deviceY(count), deviceDy(count), deviceDx(count);

    std::array<Stream, kStreams> streams;
    const int chunkRows = (rows + kChunks - 1) / kChunks;
    int chunk = 0;
    for (int first = 0; first < rows; first += chunkRows, ++chunk) {
        const cudaStream_t stream = streams[chunk % kStreams].handle;
        const int rowsHere = std::min(chunkRows, rows - first);
        const size_t at = static_cast<size_t>(first) * cols;
        const size_t bytes = static_cast<size_t>(rowsHere) * cols * sizeof(float);
        check(cudaMemcpyAsync(deviceY.data + at, y.data + at, bytes, cudaMemcpyHostToDevice, stream));
        check(cudaMemcpyAsync(deviceDy.data + at, dy.data + at, bytes, cudaMemcpyHostToDevice, stream));
        softmaxBackward<<<rowsHere, kThreads, 0, stream>>>(deviceY.data + at, deviceDy.data + at, deviceDx.data + at,
                                                           cols, 1.0f / temperature);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(dx.data + at, deviceDx.data + at, bytes, cudaMemcpyDeviceToHost, stream));
    }
    for (const Stream& stream : streams) check(cudaStreamSynchronize(stream.handle));

    std::ofstream out("data/dx.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(dx.data), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/dx.bin: cannot be written");
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
