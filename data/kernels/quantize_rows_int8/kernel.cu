#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxRows = 65536;
constexpr int kMaxQuads = 2048;

__device__ __forceinline__ signed char quantize(float value, float scale, float zeroPoint) {
    const float shifted = rintf(value / scale) + zeroPoint;
    return static_cast<signed char>(fminf(fmaxf(shifted, -128.0f), 127.0f));
}

__global__ void quantizeRows(const float4* __restrict__ x, const float* __restrict__ scale,
                             const int8_t* __restrict__ zeroPoint, char4* __restrict__ q, int quads) {
    const size_t start = static_cast<size_t>(blockIdx.x) * quads;
    const float rowScale = scale[blockIdx.x];
    const float rowZero = zeroPoint[blockIdx.x];
    for (int c = threadIdx.x; c < quads; c += kThreads) {
        const float4 v = x[start + c];
        q[start + c] = make_char4(quantize(v.x, rowScale, rowZero), quantize(v.y, rowScale, rowZero),
                                  quantize(v.z, rowScale, rowZero), quantize(v.w, rowScale, rowZero));
    }
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t count) : bytes_(count * sizeof(T)) { check(cudaMalloc(&data_, bytes_)); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { cudaFree(data_); }

    T* data() { return data_; }
    void upload(const void* host) { check(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice)); }
    void download(void* host) const { check(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost)); }

private:
    T* data_ = nullptr;
    size_t bytes_;
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || static_cast<size_t>(file.tellg()) != count * sizeof(T)) {
        throw std::runtime_error(path + ": missing, or not " + std::to_string(count) + " values");
    }
    std::vector<T> values(count);
    if (!file.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": cannot be read");
    }
    return values;
}

void run() {
    const auto sizes = load<int32_t>("data/sizes.bin", 2);
    const int rows = sizes[0], quads = sizes[1];
    if (rows < 1 || rows > kMaxRows || quads < 1 || quads > kMaxQuads) {
        throw std::runtime_error("data/sizes.bin: rows or quads out of range");
    }
    const size_t vectors = static_cast<size_t>(rows) * quads;
    const auto x = load<float>("data/x.bin", 4 * vectors);
    const auto scale = load<float>("data/scale.bin", rows);
    const auto zeroPoint = load<int8_t>("data/zero_point.bin", rows);

    DeviceBuffer<float4> dX(vectors);
    DeviceBuffer<float> dScale(rows);
    DeviceBuffer<int8_t> dZero(rows);
    DeviceBuffer<char4> dQ(vectors);
    dX.upload(x.data());
    dScale.upload(scale.data());
    dZero.upload(zeroPoint.data());
    quantizeRows<<<rows, kThreads>>>(dX.data(), dScale.data(), dZero.data(), dQ.data(), quads);
    check(cudaGetLastError());

    std::vector<int8_t> q(4 * vectors);
    dQ.download(q.data());
    std::ofstream out("data/q.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(q.data()), q.size());
    out.close();
    if (!out) throw std::runtime_error("data/q.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
