#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <vector>

constexpr int kMaxSide = 8192;
constexpr int kThreads = 256;
constexpr int kMaxBlocks = 1024;
constexpr uint32_t kEvenBytes = 0x00ff00ffu;
constexpr uint32_t kHalves = 0x00800080u;

__device__ __forceinline__ uint32_t blendWord(uint32_t base, uint32_t overlay, uint32_t strength) {
    const uint32_t even = ((overlay & kEvenBytes) * strength + kHalves) >> 8 & kEvenBytes;
    const uint32_t odd = (((overlay >> 8) & kEvenBytes) * strength + kHalves) & ~kEvenBytes;
    return __vaddus4(base, even | odd);
}

__global__ void blend(const uint8_t* __restrict__ base, const uint8_t* __restrict__ overlay,
                      uint8_t* __restrict__ blended, int total, uint32_t strength) {
    const uint4* baseVectors = reinterpret_cast<const uint4*>(base);
    const uint4* overlayVectors = reinterpret_cast<const uint4*>(overlay);
    uint4* blendedVectors = reinterpret_cast<uint4*>(blended);
    const int vectors = total / 16;
    const int first = blockIdx.x * kThreads + threadIdx.x;

    for (int i = first; i < vectors; i += gridDim.x * kThreads) {
        const uint4 b = baseVectors[i];
        const uint4 o = overlayVectors[i];
        blendedVectors[i] = make_uint4(blendWord(b.x, o.x, strength), blendWord(b.y, o.y, strength),
                                       blendWord(b.z, o.z, strength), blendWord(b.w, o.w, strength));
    }
    const int rest = 16 * vectors + first;
    if (rest < total) {
        blended[rest] = min(255u, base[rest] + ((overlay[rest] * strength + 128u) >> 8));
    }
}

// True if the file holds exactly this many bytes, which are then in target.
static bool readBytes(const char* path, void* target, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (in && in.tellg() == bytes && in.seekg(0).read(static_cast<char*>(target), bytes)) return true;
    std::fprintf(stderr, "%s: expected %lld bytes\n", path, static_cast<long long>(bytes));
    return false;
}

static cudaError_t blendOnDevice(const std::vector<uint8_t>& base, const std::vector<uint8_t>& overlay,
                                 std::vector<uint8_t>& blended, uint32_t strength) {
    const int total = static_cast<int>(base.size());
    uint8_t *dBase = nullptr, *dOverlay = nullptr, *dBlended = nullptr;
    cudaError_t status = cudaMalloc(&dBase, total);
    if (status == cudaSuccess) status = cudaMalloc(&dOverlay, total);
    if (status == cudaSuccess) status = cudaMalloc(&dBlended, total);
    if (status == cudaSuccess) status = cudaMemcpy(dBase, base.data(), total, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) status = cudaMemcpy(dOverlay, overlay.data(), total, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        const int blocks = std::min((total / 16 + kThreads) / kThreads, kMaxBlocks);
        blend<<<blocks, kThreads>>>(dBase, dOverlay, dBlended, total, strength);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(blended.data(), dBlended, total, cudaMemcpyDeviceToHost);
    cudaFree(dBase);
    cudaFree(dOverlay);
    cudaFree(dBlended);
    return status;
}

int main() {
    int32_t sizes[2], strength;
    if (!readBytes("data/sizes.bin", sizes, sizeof(sizes))) return 1;
    if (!readBytes("data/strength.bin", &strength, sizeof(strength))) return 1;
    if (std::min(sizes[0], sizes[1]) < 1 || std::max(sizes[0], sizes[1]) > kMaxSide) {
        std::fprintf(stderr, "data/sizes.bin: %d x %d is out of range\n", sizes[0], sizes[1]);
        return 1;
    }
    if (strength < 0 || strength > 256) {
        std::fprintf(stderr, "data/strength.bin: %d is not in 0..256\n", strength);
        return 1;
    }
    const size_t total = static_cast<size_t>(sizes[0]) * sizes[1];
    std::vector<uint8_t> base(total), overlay(total), blended(total);
    if (!readBytes("data/base.bin", base.data(), total)) return 1;
    if (!readBytes("data/overlay.bin", overlay.data(), total)) return 1;

    const cudaError_t status = blendOnDevice(base, overlay, blended, strength);
    if (status != cudaSuccess) {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        return 1;
    }

    std::ofstream out("data/blended.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(blended.data()), total);
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/blended.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
