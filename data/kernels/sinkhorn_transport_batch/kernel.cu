#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 8;
constexpr int kMaxSide = 64;

// log(sum over k of exp(dual[k] - line[k * stride])), for all lanes; one or two terms a lane.
__device__ float logSumExp(const float* dual, const float* line, int stride, int count, int lane) {
    const float low = -1e30f;
    const float x = lane < count ? dual[lane] - line[lane * stride] : low;
    const float y = lane + 32 < count ? dual[lane + 32] - line[(lane + 32) * stride] : low;
    float top = fmaxf(x, y);
    for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFu, top, d));
    float sum = 0.0f;
    if (lane < count) sum += expf(x - top);
    if (lane + 32 < count) sum += expf(y - top);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, d);
    return top + logf(sum);
}

__global__ void __launch_bounds__(32 * kWarps)
    sinkhorn(const float* __restrict__ cost, const float* __restrict__ source, const float* __restrict__ sink,
             float epsilon, int rows, int cols, int rounds, float* transport, float* potential) {
    extern __shared__ float scaled[];  // cost / epsilon
    __shared__ float u[kMaxSide], v[kMaxSide], logSource[kMaxSide], logSink[kMaxSide];
    __shared__ double partial[kWarps];
    const size_t p = blockIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int pitch = cols | 1;
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) {
        scaled[i / cols * pitch + i % cols] = cost[p * rows * cols + i] / epsilon;
    }
    for (int i = threadIdx.x; i < rows; i += blockDim.x) logSource[i] = logf(source[p * rows + i]);
    for (int j = threadIdx.x; j < cols; j += blockDim.x) {
        logSink[j] = logf(sink[p * cols + j]);
        v[j] = 0.0f;
    }
    __syncthreads();

    for (int round = 0; round < rounds; ++round) {
        for (int i = warp; i < rows; i += kWarps) {
            const float total = logSumExp(v, scaled + i * pitch, 1, cols, lane);
            if (lane == 0) u[i] = logSource[i] - total;
        }
        __syncthreads();
        for (int j = warp; j < cols; j += kWarps) {
            const float total = logSumExp(u, scaled + j, pitch, rows, lane);
            if (lane == 0) v[j] = logSink[j] - total;
        }
        __syncthreads();
    }

    double moved = 0.0;
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) {
        const float c = scaled[i / cols * pitch + i % cols];
        moved += expf(u[i / cols] + v[i % cols] - c) * c;
    }
    for (int d = 16; d > 0; d >>= 1) moved += __shfl_xor_sync(0xFFFFFFFFu, moved, d);
    if (lane == 0) partial[warp] = moved;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kWarps; ++w) moved += partial[w];
        transport[p] = static_cast<float>(epsilon * moved);
    }
    for (int i = threadIdx.x; i < rows; i += blockDim.x) potential[p * rows + i] = epsilon * u[i];
}

namespace {

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readAll(const std::string& path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || static_cast<size_t>(file.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": size");
    std::vector<T> values(count);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    return values;
}

// Device memory that frees itself.
struct Buffer {
    float* data = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) { check(cudaMalloc(&data, n * sizeof(float)), "cudaMalloc"); }
    explicit Buffer(const std::vector<float>& host) : Buffer(host.size()) {
        check(cudaMemcpy(data, host.data(), count * sizeof(float), cudaMemcpyHostToDevice), "upload");
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data); }
    void save(const std::string& path) const {
        std::vector<float> host(count);
        check(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost), "download");
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
        if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
    }
};

std::vector<float> readMasses(const std::string& path, size_t count) {
    auto masses = readAll<float>(path, count);
    for (float mass : masses) {
        if (!(mass > 0.0f)) throw std::runtime_error(path + ": a mass is not positive");
    }
    return masses;
}

void run() {
    const auto sizes = readAll<int32_t>("data/sizes.bin", 4);
    const int problems = sizes[0], rows = sizes[1], cols = sizes[2], rounds = sizes[3];
    if (problems < 1 || problems > 65536 || rows < 1 || rows > kMaxSide || cols < 1 || cols > kMaxSide || rounds < 1 ||
        rounds > 200) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const float epsilon = readAll<float>("data/epsilon.bin", 1)[0];
    if (!(epsilon >= 0.01f && epsilon <= 10.0f)) throw std::runtime_error("data/epsilon.bin: out of range");
    const size_t n = problems;
    const Buffer cost(readAll<float>("data/cost.bin", n * rows * cols));
    const Buffer source(readMasses("data/source.bin", n * rows)), sink(readMasses("data/sink.bin", n * cols));
    Buffer transport(n), potential(n * rows);
    const size_t tile = static_cast<size_t>(rows) * (cols | 1) * sizeof(float);
    sinkhorn<<<problems, 32 * kWarps, tile>>>(cost.data, source.data, sink.data, epsilon, rows, cols, rounds,
                                              transport.data, potential.data);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "sinkhorn");
    transport.save("data/transport.bin");
    potential.save("data/potential.bin");
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
