#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxSamples = 1 << 22, kMaxRadius = 15, kMaxFactor = 100;
constexpr int kThreads = 256;

// The value of rank `radius` among |window[k] - center|, or among window[k] itself.
template <bool Distance>
__device__ int medianOf(const int* window, int radius, int center) {
    const int members = 2 * radius + 1;
    for (int c = 0; c < members; ++c) {
        const int candidate = Distance ? abs(window[c] - center) : window[c];
        int below = 0, equal = 0;
        for (int k = 0; k < members; ++k) {
            const int value = Distance ? abs(window[k] - center) : window[k];
            below += value < candidate;
            equal += value == candidate;
        }
        if (below <= radius && radius < below + equal) return candidate;
    }
    return 0;  // not reached: one member has the middle rank
}

__global__ void hampel(const int16_t* __restrict__ x, int16_t* __restrict__ y, int* replaced, int n, int radius,
                       int factor) {
    __shared__ int window[kThreads + 2 * kMaxRadius];
    const int first = blockIdx.x * kThreads - radius;
    for (int k = threadIdx.x; k < kThreads + 2 * radius; k += kThreads) window[k] = x[min(max(first + k, 0), n - 1)];
    __syncthreads();
    const int i = blockIdx.x * kThreads + threadIdx.x;
    bool outlier = false;
    if (i < n) {
        const int* own = window + threadIdx.x;
        const int median = medianOf<false>(own, radius, 0);
        const int deviation = medianOf<true>(own, radius, median);
        outlier = 2 * abs(own[radius] - median) > factor * deviation;
        y[i] = static_cast<int16_t>(outlier ? median : own[radius]);
    }
    const int count = __syncthreads_count(outlier);
    if (threadIdx.x == 0 && count > 0) atomicAdd(replaced, count);
}

static bool passed(cudaError_t status, const char* step) {
    if (status != cudaSuccess) std::cerr << step << ": " << cudaGetErrorString(status) << std::endl;
    return status == cudaSuccess;
}

static bool readFile(const char* path, void* data, std::streamsize bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (in && in.tellg() == bytes && in.seekg(0).read(static_cast<char*>(data), bytes)) return true;
    std::cerr << path << ": expected " << bytes << " bytes" << std::endl;
    return false;
}

static bool writeFile(const char* path, const void* data, std::streamsize bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(data), bytes);
    out.close();
    if (!out) std::cerr << path << ": cannot be written" << std::endl;
    return static_cast<bool>(out);
}

int main() {
    int sizes[3];
    if (!readFile("data/sizes.bin", sizes, sizeof(sizes))) return 1;
    const int n = sizes[0], radius = sizes[1], factor = sizes[2];
    if (n < 1 || n > kMaxSamples || radius < 1 || radius > kMaxRadius || factor < 1 || factor > kMaxFactor) {
        std::cerr << "data/sizes.bin: out of range" << std::endl;
        return 1;
    }
    std::vector<int16_t> signal(n);
    const std::streamsize bytes = n * sizeof(int16_t);
    if (!readFile("data/x.bin", signal.data(), bytes)) return 1;

    int16_t *x = nullptr, *y = nullptr;
    int *replaced = nullptr, count = 0;
    if (!passed(cudaMalloc(&x, bytes), "allocate x")) return 1;
    if (!passed(cudaMalloc(&y, bytes), "allocate y")) return 1;
    if (!passed(cudaMalloc(&replaced, sizeof(int)), "allocate the count")) return 1;
    if (!passed(cudaMemcpy(x, signal.data(), bytes, cudaMemcpyHostToDevice), "upload")) return 1;
    if (!passed(cudaMemset(replaced, 0, sizeof(int)), "clear the count")) return 1;
    hampel<<<(n + kThreads - 1) / kThreads, kThreads>>>(x, y, replaced, n, radius, factor);
    if (!passed(cudaGetLastError(), "launch")) return 1;
    if (!passed(cudaMemcpy(signal.data(), y, bytes, cudaMemcpyDeviceToHost), "download")) return 1;
    if (!passed(cudaMemcpy(&count, replaced, sizeof(int), cudaMemcpyDeviceToHost), "download")) return 1;
    cudaFree(x);
    cudaFree(y);
    cudaFree(replaced);
    const bool written = writeFile("data/y.bin", signal.data(), bytes) &&
                         writeFile("data/replaced.bin", &count, sizeof(count));
    return written ? 0 : 1;
}
