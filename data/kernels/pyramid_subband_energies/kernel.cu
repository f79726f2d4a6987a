#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

using u64 = unsigned long long;

constexpr int kMaxBase = 512, kMaxLevels = 4, kMaxBands = 3 * kMaxLevels + 1;
constexpr int kThreads = 256, kMaxBlocks = 1024;

__device__ int bandOf(int r, int c, int height, int width, int levels) {
    for (int l = 1; l <= levels; ++l) {
        const bool lower = r >= height >> l, right = c >= width >> l;
        if (lower || right) return 3 * (l - 1) + (lower ? (right ? 2 : 1) : 0);
    }
    return 3 * levels;
}

__global__ void addSquares(const int16_t* __restrict__ w, u64* energy, int height, int width, int levels) {
    __shared__ u64 sums[kMaxBands];
    if (threadIdx.x < kMaxBands) sums[threadIdx.x] = 0;
    __syncthreads();
    for (int r = blockIdx.x; r < height; r += gridDim.x) {
        int band = 0;
        u64 run = 0;
        for (int c = threadIdx.x; c < width; c += kThreads) {
            const int here = bandOf(r, c, height, width, levels);
            if (here != band) {
                if (run > 0) atomicAdd(&sums[band], run);
                band = here;
                run = 0;
            }
            const int value = w[static_cast<size_t>(r) * width + c];
            run += static_cast<u64>(value * value);
        }
        if (run > 0) atomicAdd(&sums[band], run);
    }
    __syncthreads();
    if (threadIdx.x <= 3 * levels && sums[threadIdx.x] > 0) atomicAdd(&energy[threadIdx.x], sums[threadIdx.x]);
}

#define RETURN_IF_FAILED(call)                                                            \
    if (cudaError_t error = (call); error != cudaSuccess) {                               \
        std::cerr << #call << ": " << cudaGetErrorString(error) << std::endl;             \
        return 2;                                                                         \
    }

static bool readFile(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (in && in.tellg() == bytes && in.seekg(0).read(static_cast<char*>(data), bytes)) return true;
    std::cerr << path << ": expected " << bytes << " bytes" << std::endl;
    return false;
}

int main() {
    int sizes[3];
    if (!readFile("data/sizes.bin", sizes, sizeof sizes)) return 1;
    const int levels = sizes[2];
    for (int s = 0; s < 3; ++s) {
        if (sizes[s] < 1 || sizes[s] > (s < 2 ? kMaxBase : kMaxLevels)) {
            std::cerr << "data/sizes.bin: entry " << s << " is " << sizes[s] << ", out of range" << std::endl;
            return 1;
        }
    }
    const int height = 16 * sizes[0], width = 16 * sizes[1];
    const size_t count = static_cast<size_t>(height) * width, bands = 3 * levels + 1;
    std::vector<int16_t> w(count);
    if (!readFile("data/w.bin", w.data(), count * sizeof(int16_t))) return 1;

    int16_t* dW = nullptr;
    u64* dEnergy = nullptr;
    RETURN_IF_FAILED(cudaMalloc(&dW, count * sizeof(int16_t)));
    RETURN_IF_FAILED(cudaMalloc(&dEnergy, bands * sizeof(u64)));
    RETURN_IF_FAILED(cudaMemcpy(dW, w.data(), count * sizeof(int16_t), cudaMemcpyHostToDevice));
    RETURN_IF_FAILED(cudaMemset(dEnergy, 0, bands * sizeof(u64)));
    addSquares<<<height < kMaxBlocks ? height : kMaxBlocks, kThreads>>>(dW, dEnergy, height, width, levels);
    RETURN_IF_FAILED(cudaGetLastError());
    std::vector<u64> energy(bands);
    RETURN_IF_FAILED(cudaMemcpy(energy.data(), dEnergy, bands * sizeof(u64), cudaMemcpyDeviceToHost));
    RETURN_IF_FAILED(cudaFree(dW));
    RETURN_IF_FAILED(cudaFree(dEnergy));

    std::ofstream out("data/energy.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(energy.data()), bands * sizeof(u64));
    out.close();
    if (!out) {
        std::cerr << "data/energy.bin: cannot be written" << std::endl;
        return 1;
    }
    return 0;
}
