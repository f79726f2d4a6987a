#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using u64 = unsigned long long;

constexpr int kThreads = 256, kWarps = kThreads / 32, kOutputs = 32;

__global__ void decimate(const int16_t* __restrict__ x, const u64* __restrict__ taps, long long* __restrict__ y,
                         int outputs, int rate, int length) {
    extern __shared__ u64 shared[];
    u64* tap = shared;
    int16_t* window = reinterpret_cast<int16_t*>(tap + length);
    const size_t samples = static_cast<size_t>(outputs) * rate;
    const int16_t* channel = x + blockIdx.y * samples;
    const int firstOutput = blockIdx.x * kOutputs;
    // window[0] is the oldest sample that the block's first output needs
    const long long start = static_cast<long long>(firstOutput) * rate + rate - length;
    for (int k = threadIdx.x; k < length; k += kThreads) tap[k] = taps[k];
    for (int w = threadIdx.x; w < kOutputs * rate + length - rate; w += kThreads) {
        const long long t = start + w;
        window[w] = t >= 0 && t < static_cast<long long>(samples) ? channel[t] : int16_t{0};
    }
    __syncthreads();

    const int lane = threadIdx.x % 32;
    for (int o = threadIdx.x / 32; o < kOutputs; o += kWarps) {
        if (firstOutput + o >= outputs) return;
        const int16_t* newest = window + o * rate + length - 1;
        u64 sum = 0;
        for (int k = lane; k < length; k += 32) sum += tap[k] * static_cast<u64>(static_cast<long long>(newest[-k]));
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
        if (lane == 0) y[static_cast<size_t>(blockIdx.y) * outputs + firstOutput + o] = static_cast<long long>(sum);
    }
}

std::vector<u64> cicTaps(int rate, int stages) {
    std::vector<u64> taps = {1};
    for (int s = 0; s < stages; ++s) {
        std::vector<u64> longer(taps.size() + rate - 1, 0);
        for (size_t k = 0; k < taps.size(); ++k) {
            for (int j = 0; j < rate; ++j) longer[k + j] += taps[k];
        }
        taps = longer;
    }
    return taps;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": not the expected length");
    return values;
}

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 4);
    const int channels = sizes[0], outputs = sizes[1], rate = sizes[2], stages = sizes[3];
    if (channels < 1 || channels > 1024 || outputs < 1 || outputs > 65536 || rate < 2 || rate > 256 || stages < 1 ||
        stages > 6) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const auto x = readFile<int16_t>("data/x.bin", static_cast<size_t>(channels) * outputs * rate);
    const auto taps = cicTaps(rate, stages);
    const int length = static_cast<int>(taps.size());
    std::vector<long long> y(static_cast<size_t>(channels) * outputs);

    int16_t* dX = nullptr;
    u64* dTaps = nullptr;
    long long* dY = nullptr;
    check(cudaMalloc(&dX, x.size() * sizeof(int16_t)));
    check(cudaMalloc(&dTaps, taps.size() * sizeof(u64)));
    check(cudaMalloc(&dY, y.size() * sizeof(long long)));
    check(cudaMemcpy(dX, x.data(), x.size() * sizeof(int16_t), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dTaps, taps.data(), taps.size() * sizeof(u64), cudaMemcpyHostToDevice));
    const dim3 grid((outputs + kOutputs - 1) / kOutputs, channels);
    const size_t sharedBytes = length * sizeof(u64) + (kOutputs * rate + length - rate) * sizeof(int16_t);
    decimate<<<grid, kThreads, sharedBytes>>>(dX, dTaps, dY, outputs, rate, length);
    check(cudaGetLastError());
    check(cudaMemcpy(y.data(), dY, y.size() * sizeof(long long), cudaMemcpyDeviceToHost));
    check(cudaFree(dX));
    check(cudaFree(dTaps));
    check(cudaFree(dY));

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(long long));
    out.close();
    if (!out) throw std::runtime_error("data/y.bin: cannot be written");
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
