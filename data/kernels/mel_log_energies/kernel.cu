#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr float kFloor = 1e-10f;

__global__ void melEnergies(const float* __restrict__ power, const int* __restrict__ starts,
                            const int* __restrict__ offsets, const float* __restrict__ weights,
                            float* __restrict__ energy, int bins, int mels) {
    extern __shared__ float spectrum[];
    const float* frame = power + static_cast<size_t>(blockIdx.x) * bins;
    for (int b = threadIdx.x; b < bins; b += kThreads) spectrum[b] = frame[b];
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int m = threadIdx.x / 32; m < mels; m += kWarps) {
        const int begin = offsets[m], length = offsets[m + 1] - begin, start = starts[m];
        float sum = 0.0f;
        for (int j = lane; j < length; j += 32) sum += weights[begin + j] * spectrum[start + j];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
        if (lane == 0) energy[static_cast<size_t>(blockIdx.x) * mels + m] = logf(fmaxf(sum, kFloor));
    }
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

template <typename T>
std::shared_ptr<T> deviceArray(size_t count) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(T)));
    return std::shared_ptr<T>(pointer, [](T* p) { cudaFree(p); });
}

template <typename T>
std::shared_ptr<T> upload(const std::vector<T>& values) {
    auto device = deviceArray<T>(values.size());
    check(cudaMemcpy(device.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 4);
    const int limits[4] = {65535, 4096, 256, 65536};
    for (int s = 0; s < 4; ++s) {
        if (sizes[s] < 1 || sizes[s] > limits[s]) throw std::runtime_error("data/sizes.bin: out of range");
    }
    const int frames = sizes[0], bins = sizes[1], mels = sizes[2], entries = sizes[3];
    const auto power = readFile<float>("data/power.bin", static_cast<size_t>(frames) * bins);
    const auto starts = readFile<int>("data/starts.bin", mels);
    const auto offsets = readFile<int>("data/offsets.bin", mels + 1);
    const auto weights = readFile<float>("data/weights.bin", entries);
    bool valid = offsets[0] == 0 && offsets[mels] == entries;
    for (int m = 0; m < mels; ++m) {
        const int length = offsets[m + 1] - offsets[m];
        valid = valid && length >= 0 && length <= bins && starts[m] >= 0 && starts[m] <= bins - length;
    }
    if (!valid) throw std::runtime_error("data/starts.bin, data/offsets.bin: not filters of this spectrum");

    const auto dPower = upload(power), dWeights = upload(weights);
    const auto dStarts = upload(starts), dOffsets = upload(offsets);
    std::vector<float> energy(static_cast<size_t>(frames) * mels);
    const auto dEnergy = deviceArray<float>(energy.size());
    melEnergies<<<frames, kThreads, bins * sizeof(float)>>>(dPower.get(), dStarts.get(), dOffsets.get(),
                                                            dWeights.get(), dEnergy.get(), bins, mels);
    check(cudaGetLastError());
    check(cudaMemcpy(energy.data(), dEnergy.get(), energy.size() * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out("data/energy.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(energy.data()), energy.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/energy.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
