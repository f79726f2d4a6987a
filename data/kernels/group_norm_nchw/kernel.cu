#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr float kEpsilon = 1e-5f;

// The sum over the block, known to all of its threads. `slots` must not be in use by another sum.
__device__ float blockSum(const cg::thread_block& block, float value, float* slots) {
    const auto warp = cg::tiled_partition<32>(block);
    const float partial = cg::reduce(warp, value, cg::plus<float>());
    if (warp.thread_rank() == 0) slots[warp.meta_group_rank()] = partial;
    block.sync();
    const float slot = warp.thread_rank() < kWarps ? slots[warp.thread_rank()] : 0.0f;
    return cg::reduce(warp, slot, cg::plus<float>());
}

__global__ void groupNorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y, int groups, int width, int plane) {
    __shared__ float sums[kWarps], squares[kWarps];
    const cg::thread_block block = cg::this_thread_block();
    const int count = width * plane;
    const int firstChannel = blockIdx.x % groups * width;
    const float* in = x + static_cast<size_t>(blockIdx.x) * count;
    float* out = y + static_cast<size_t>(blockIdx.x) * count;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) sum += in[i];
    const float mean = blockSum(block, sum, sums) / count;

    float square = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) {
        const float centred = in[i] - mean;
        square += centred * centred;
    }
    const float factor = rsqrtf(blockSum(block, square, squares) / count + kEpsilon);

    for (int i = threadIdx.x; i < count; i += kThreads) {
        const int channel = firstChannel + i / plane;
        out[i] = (in[i] - mean) * factor * gamma[channel] + beta[channel];
    }
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

class DeviceFloats {
public:
    explicit DeviceFloats(size_t count) : bytes_(count * sizeof(float)) {
        check(cudaMalloc(&data_, bytes_), "cudaMalloc");
    }
    explicit DeviceFloats(const std::vector<float>& host) : DeviceFloats(host.size()) {
        check(cudaMemcpy(data_, host.data(), bytes_, cudaMemcpyHostToDevice), "copy to the device");
    }
    DeviceFloats(const DeviceFloats&) = delete;
    DeviceFloats& operator=(const DeviceFloats&) = delete;
    ~DeviceFloats() { cudaFree(data_); }

    float* get() { return data_; }
    void copyTo(std::vector<float>& host) const {
        check(cudaMemcpy(host.data(), data_, bytes_, cudaMemcpyDeviceToHost), "copy to the host");
    }

private:
    float* data_ = nullptr;
    size_t bytes_;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong size");
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": not readable");
    return values;
}

static void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 4);
    const int limits[4] = {64, 32, 32, 16384};
    for (int i = 0; i < 4; ++i) {
        if (sizes[i] < 1 || sizes[i] > limits[i]) throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    const int batch = sizes[0], groups = sizes[1], width = sizes[2], plane = sizes[3];
    const int channels = groups * width;
    auto x = readFile<float>("data/x.bin", static_cast<size_t>(batch) * channels * plane);
    DeviceFloats dX(x), dY(x.size());
    DeviceFloats dGamma(readFile<float>("data/gamma.bin", channels));
    DeviceFloats dBeta(readFile<float>("data/beta.bin", channels));

    groupNorm<<<batch * groups, kThreads>>>(dX.get(), dGamma.get(), dBeta.get(), dY.get(), groups, width, plane);
    check(cudaGetLastError(), "groupNorm");
    dY.copyTo(x);

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/y.bin: not writable");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
