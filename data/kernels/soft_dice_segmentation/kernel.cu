#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAll = 0xffffffffu;

__global__ void diceOfClass(const float* __restrict__ probs, const uint8_t* __restrict__ labels,
                            float* __restrict__ dice, int pixels) {
    __shared__ float overlaps[kWarps], masses[kWarps];
    __shared__ int counts[kWarps];
    const int c = blockIdx.x, b = blockIdx.y, classes = gridDim.x;
    const float* p = probs + (static_cast<size_t>(b) * classes + c) * pixels;
    const uint8_t* label = labels + static_cast<size_t>(b) * pixels;

    float overlap = 0.0f, mass = 0.0f;
    int count = 0;
    for (int x = threadIdx.x; x < pixels; x += kThreads) {
        const float value = p[x];
        const bool match = label[x] == c;
        overlap += match ? value : 0.0f;
        mass += value;
        count += match;
    }
    for (int step = 16; step > 0; step /= 2) {
        overlap += __shfl_down_sync(kAll, overlap, step);
        mass += __shfl_down_sync(kAll, mass, step);
        count += __shfl_down_sync(kAll, count, step);
    }
    if (threadIdx.x % 32 == 0) {
        overlaps[threadIdx.x / 32] = overlap;
        masses[threadIdx.x / 32] = mass;
        counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kWarps; ++w) {
            overlap += overlaps[w];
            mass += masses[w];
            count += counts[w];
        }
        dice[b * classes + c] = (2.0f * overlap + 1.0f) / (mass + count + 1.0f);
    }
}

__global__ void lossOfSample(const float* __restrict__ dice, float* __restrict__ loss, int classes) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += 32) sum += dice[blockIdx.x * classes + c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
    if (threadIdx.x == 0) loss[blockIdx.x] = 1.0f - sum / classes;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class Buffer {
public:
    explicit Buffer(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }
    T* get() const { return data_; }

    static std::vector<T> readHost(const std::string& path, size_t count) {
        std::vector<T> host(count);
        std::ifstream in(path, std::ios::binary);
        in.read(reinterpret_cast<char*>(host.data()), count * sizeof(T));
        if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
        return host;
    }
    void load(const std::string& path) {
        const auto host = readHost(path, count_);
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    void store(const std::string& path) const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count_ * sizeof(T));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

int main() {
    try {
        const auto sizes = Buffer<int32_t>::readHost("data/sizes.bin", 3);
        const int batch = sizes[0], classes = sizes[1], pixels = sizes[2];
        if (batch < 1 || batch > 1024 || classes < 1 || classes > 255 || pixels < 1 || pixels > 1000000) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        Buffer<float> probs(static_cast<size_t>(batch) * classes * pixels), dice(batch * classes), loss(batch);
        Buffer<uint8_t> labels(static_cast<size_t>(batch) * pixels);
        probs.load("data/probs.bin");
        labels.load("data/labels.bin");
        diceOfClass<<<dim3(classes, batch), kThreads>>>(probs.get(), labels.get(), dice.get(), pixels);
        check(cudaGetLastError());
        lossOfSample<<<batch, 32>>>(dice.get(), loss.get(), classes);
        check(cudaGetLastError());
        dice.store("data/dice.bin");
        loss.store("data/loss.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
