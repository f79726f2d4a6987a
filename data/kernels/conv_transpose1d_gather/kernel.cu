#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kLimits[6] = {16, 128, 128, 16384, 32, 16};

struct Layer {
    int batch, inChannels, outChannels, length, taps, stride;
    __host__ __device__ int outLength() const { return (length - 1) * stride + taps; }
};

__global__ void upsample(const float* __restrict__ signal, const float* __restrict__ weights,
                         const float* __restrict__ bias, float* __restrict__ upsampled, Layer layer) {
    extern __shared__ float filter[];  // [in channel][tap], for the block's output channel
    const int n = blockIdx.y / layer.outChannels;
    const int o = blockIdx.y % layer.outChannels;
    for (int e = threadIdx.x; e < layer.inChannels * layer.taps; e += kThreads) {
        const int c = e / layer.taps, k = e % layer.taps;
        filter[e] = weights[(c * layer.outChannels + o) * layer.taps + k];
    }
    __syncthreads();

    const int t = blockIdx.x * kThreads + threadIdx.x;
    if (t >= layer.outLength()) return;
    const float* rows = signal + static_cast<size_t>(n) * layer.inChannels * layer.length;
    float sum = bias[o];
    // Only the taps of this phase meet an input sample: t = i * stride + k.
    for (int k = t % layer.stride; k < layer.taps && k <= t; k += layer.stride) {
        const int i = (t - k) / layer.stride;
        if (i >= layer.length) continue;
        for (int c = 0; c < layer.inChannels; ++c) {
            sum += filter[c * layer.taps + k] * rows[c * layer.length + i];
        }
    }
    upsampled[static_cast<size_t>(blockIdx.y) * layer.outLength() + t] = sum;
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
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 6);
    for (int k = 0; k < 6; ++k) {
        if (sizes[k] < 1 || sizes[k] > kLimits[k]) throw std::runtime_error("data/sizes.bin: a size is out of range");
    }
    const Layer layer{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]};
    const int planes = layer.batch * layer.outChannels;
    const size_t samples = static_cast<size_t>(layer.batch) * layer.inChannels * layer.length;

    DeviceArray<float> signal(readFile<float>("data/signal.bin", samples));
    DeviceArray<float> weights(readFile<float>("data/weights.bin", layer.inChannels * layer.outChannels * layer.taps));
    DeviceArray<float> bias(readFile<float>("data/bias.bin", layer.outChannels));
    DeviceArray<float> upsampled(static_cast<size_t>(planes) * layer.outLength());

    const dim3 grid((layer.outLength() + kThreads - 1) / kThreads, planes);
    const size_t sharedBytes = layer.inChannels * layer.taps * sizeof(float);
    upsample<<<grid, kThreads, sharedBytes>>>(signal.get(), weights.get(), bias.get(), upsampled.get(), layer);
    check(cudaGetLastError());
    writeFile("data/upsampled.bin", upsampled.toHost());
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
