#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using Key = unsigned long long;
constexpr int kThreads = 256;

// The order of the keys is the order of the scores, and of descending classes among equal scores.
__device__ Key packKey(float score, int c) {
    const unsigned bits = __float_as_uint(score + 0.0f);
    const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (static_cast<Key>(ordered) << 32) | ~static_cast<unsigned>(c);
}

__global__ void hingeLoss(const float* __restrict__ scores, const int* __restrict__ labels, float* __restrict__ loss,
                          int* __restrict__ rival, int classes) {
    __shared__ Key partial[kThreads / 32];
    const int row = blockIdx.x;
    const int label = labels[row];
    const float* mine = scores + static_cast<size_t>(row) * classes;

    Key best = 0;  // below the key of every finite score
    for (int c = threadIdx.x; c < classes; c += kThreads) {
        if (c != label) best = max(best, packKey(mine[c], c));
    }
    for (int step = 16; step > 0; step >>= 1) best = max(best, __shfl_down_sync(0xffffffffu, best, step));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < kThreads / 32; ++w) best = max(best, partial[w]);
    const int c = static_cast<int>(~static_cast<unsigned>(best));
    rival[row] = c;
    loss[row] = fmaxf(0.0f, 1.0f + mine[c] - mine[label]);
}

static void require(bool good, const std::string& message) {
    if (!good) throw std::runtime_error(message);
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

struct DeviceFree {
    void operator()(void* pointer) const { cudaFree(pointer); }
};

template <typename T>
std::unique_ptr<T[], DeviceFree> deviceArray(size_t count) {
    void* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(T)));
    return std::unique_ptr<T[], DeviceFree>(static_cast<T*>(pointer));
}

template <typename T>
static std::vector<T> readValues(const std::string& path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    require(file && static_cast<size_t>(file.tellg()) == count * sizeof(T), path + ": missing or of wrong length");
    std::vector<T> values(count);
    file.seekg(0);
    require(bool(file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))), path + ": unreadable");
    return values;
}

template <typename T>
static void writeValues(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    file.close();
    require(bool(file), path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readValues<int32_t>("data/sizes.bin", 2);
        const int rows = sizes[0], classes = sizes[1];
        require(rows >= 1 && rows <= 65535 && classes >= 2 && classes <= 32768, "data/sizes.bin: out of range");
        const auto scores = readValues<float>("data/scores.bin", size_t(rows) * classes);
        const auto labels = readValues<int32_t>("data/labels.bin", rows);
        for (int label : labels) require(label >= 0 && label < classes, "data/labels.bin: no such class");

        auto dScores = deviceArray<float>(scores.size());
        auto dLabels = deviceArray<int>(rows);
        auto dLoss = deviceArray<float>(rows);
        auto dRival = deviceArray<int>(rows);
        check(cudaMemcpy(dScores.get(), scores.data(), scores.size() * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dLabels.get(), labels.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
        hingeLoss<<<rows, kThreads>>>(dScores.get(), dLabels.get(), dLoss.get(), dRival.get(), classes);
        check(cudaGetLastError());
        writeValues("data/loss.bin", dLoss.get(), rows);
        writeValues("data/rival.bin", dRival.get(), rows);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
