#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kMaxFrames = 65535, kMaxLength = 8192, kMaxTones = 256;
constexpr int kLanes = 32, kFrames = 4, kChunk = 256;

__global__ void tonePowers(const float* __restrict__ x, const int* __restrict__ bins, float* __restrict__ power,
                           int frames, int length, int tones) {
    __shared__ float chunk[kFrames][kChunk];
    const int frame = blockIdx.x * kFrames + threadIdx.y, tone = blockIdx.y * kLanes + threadIdx.x;
    const float* samples = x + static_cast<size_t>(min(frame, frames - 1)) * length;
    const double c = 2.0 * cospi(2.0 * bins[min(tone, tones - 1)] / length);
    double s1 = 0.0, s2 = 0.0;
    for (int begin = 0; begin < length; begin += kChunk) {
        const int count = min(kChunk, length - begin);
        for (int t = threadIdx.x; t < count; t += kLanes) chunk[threadIdx.y][t] = samples[begin + t];
        __syncwarp();  // a warp reads its own row alone
        for (int t = 0; t < count; ++t) {
            const double s0 = chunk[threadIdx.y][t] + c * s1 - s2;
            s2 = s1;
            s1 = s0;
        }
        __syncwarp();
    }
    if (frame < frames && tone < tones) {
        power[static_cast<size_t>(frame) * tones + tone] = static_cast<float>(s1 * s1 + s2 * s2 - c * s1 * s2);
    }
}

#define CUDA_CALL(call)                                                                      \
    if (const cudaError_t error = call; error != cudaSuccess) {                              \
        std::cerr << #call << ": " << cudaGetErrorString(error) << std::endl;                \
        return 1;                                                                            \
    }

template <typename T>
static bool load(const std::string& path, std::vector<T>& values) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const auto bytes = static_cast<std::streamoff>(values.size() * sizeof(T));
    if (in && in.tellg() == bytes && in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) return true;
    std::cerr << path << ": expected " << bytes << " bytes" << std::endl;
    return false;
}

int main() {
    std::vector<int> sizes(3);
    if (!load("data/sizes.bin", sizes)) return 1;
    const int frames = sizes[0], length = sizes[1], tones = sizes[2];
    if (frames < 1 || frames > kMaxFrames || length < 2 || length > kMaxLength || tones < 1 || tones > kMaxTones) {
        std::cerr << "data/sizes.bin: out of range" << std::endl;
        return 1;
    }
    std::vector<float> x(static_cast<size_t>(frames) * length), power(static_cast<size_t>(frames) * tones);
    std::vector<int> bins(tones);
    if (!load("data/x.bin", x) || !load("data/bins.bin", bins)) return 1;
    for (int bin : bins) {
        if (bin < 0 || bin >= length) {
            std::cerr << "data/bins.bin: " << bin << " is not a bin of " << length << " samples" << std::endl;
            return 1;
        }
    }

    float *dX = nullptr, *dPower = nullptr;
    int* dBins = nullptr;
    CUDA_CALL(cudaMalloc(&dX, x.size() * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dPower, power.size() * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dBins, tones * sizeof(int)));
    CUDA_CALL(cudaMemcpy(dX, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(dBins, bins.data(), tones * sizeof(int), cudaMemcpyHostToDevice));
    const dim3 block(kLanes, kFrames);
    const dim3 grid((frames + kFrames - 1) / kFrames, (tones + kLanes - 1) / kLanes);
    tonePowers<<<grid, block>>>(dX, dBins, dPower, frames, length, tones);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaMemcpy(power.data(), dPower, power.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaFree(dX));
    CUDA_CALL(cudaFree(dPower));
    CUDA_CALL(cudaFree(dBins));

    std::ofstream out("data/power.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(power.data()), power.size() * sizeof(float));
    out.close();
    if (!out) {
        std::cerr << "data/power.bin: cannot be written" << std::endl;
        return 1;
    }
    return 0;
}
