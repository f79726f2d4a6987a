#include <cuda_runtime.h>

#include <climits>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kOutputs = 1024;  // per block
constexpr int kMaxCount = 16777216;
constexpr int kMaxRadius = 1024;
static_assert(2 * (kOutputs + 2 * kMaxRadius) * sizeof(int2) <= 48 * 1024, "two buffers must fit");

// Smallest (x) and largest (y) value of two stretches together.
__device__ __forceinline__ int2 join(int2 a, int2 b) { return make_int2(min(a.x, b.x), max(a.y, b.y)); }

__global__ void windowRange(const int* __restrict__ signal, int* __restrict__ spread, int n, int radius) {
    extern __shared__ int2 buffers[];
    const int window = 2 * radius + 1;
    const int span = kOutputs + 2 * radius;
    int2* from = buffers;
    int2* to = buffers + span;

    const int first = blockIdx.x * kOutputs;
    for (int e = threadIdx.x; e < span; e += kThreads) {
        const int i = first - radius + e;
        const bool exists = i >= 0 && i < n;
        from[e] = exists ? make_int2(signal[i], signal[i]) : make_int2(INT_MAX, INT_MIN);
    }
    __syncthreads();

    int covered = 1;  // from[e] describes the entries e .. e + covered - 1
    while (2 * covered <= window) {
        for (int e = threadIdx.x; e < span; e += kThreads) {
            to[e] = e + covered < span ? join(from[e], from[e + covered]) : from[e];
        }
        __syncthreads();
        int2* swap = from;
        from = to;
        to = swap;
        covered *= 2;
    }

    for (int e = threadIdx.x; e < kOutputs && first + e < n; e += kThreads) {
        const int2 ends = join(from[e], from[e + window - covered]);
        spread[first + e] = ends.y - ends.x;
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
    const int n = sizes[0], radius = sizes[1];
    if (n < 1 || n > kMaxCount || radius < 1 || radius > kMaxRadius) {
        throw std::runtime_error("data/sizes.bin: n or radius is out of range");
    }
    DeviceArray<int> signal(readFile<int>("data/signal.bin", n));
    DeviceArray<int> spread(n);

    const size_t sharedBytes = 2 * (kOutputs + 2 * radius) * sizeof(int2);
    windowRange<<<(n + kOutputs - 1) / kOutputs, kThreads, sharedBytes>>>(signal.get(), spread.get(), n, radius);
    check(cudaGetLastError());
    writeFile("data/spread.bin", spread.toHost());
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
