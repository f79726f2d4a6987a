#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxPoints = 1 << 24;
constexpr int kMaxShift = 21;
constexpr int kThreads = 256;

#define CUDA_OK(call)                                                                      \
    do {                                                                                   \
        cudaError_t status_ = (call);                                                      \
        if (status_ != cudaSuccess) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

__global__ void findLower(const int* __restrict__ points, int n, int* lower) {
    int least[3] = {INT_MAX, INT_MAX, INT_MAX};
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        for (int axis = 0; axis < 3; ++axis) least[axis] = min(least[axis], points[3 * i + axis]);
    }
    for (int axis = 0; axis < 3; ++axis) {
        const int joined = __reduce_min_sync(0xFFFFFFFFu, least[axis]);
        if (threadIdx.x % 32 == 0) atomicMin(&lower[axis], joined);
    }
}

__device__ uint32_t spread(uint32_t v) {  // bit b of 10 bits moves to bit 3 * b
    v = (v | v << 16) & 0x030000FFu;
    v = (v | v << 8) & 0x0300F00Fu;
    v = (v | v << 4) & 0x030C30C3u;
    return (v | v << 2) & 0x09249249u;
}

__global__ void encode(const int* __restrict__ points, int n, int shift, const int* __restrict__ lower,
                       uint32_t* __restrict__ codes) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    uint32_t code = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const uint32_t offset = static_cast<uint32_t>(points[3 * i + axis]) - static_cast<uint32_t>(lower[axis]);
        code |= spread(min(offset >> shift, 1023u)) << axis;
    }
    codes[i] = code;
}

static void load(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    char extra;
    const bool good = file && fread(target, 1, bytes, file) == bytes && fread(&extra, 1, 1, file) == 0;
    if (file) fclose(file);
    if (!good) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
}

int main() {
    int sizes[2];
    load("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], shift = sizes[1];
    if (n < 1 || n > kMaxPoints || shift < 1 || shift > kMaxShift) {
        fprintf(stderr, "data/sizes.bin: n = %d or shift = %d is out of range\n", n, shift);
        return 1;
    }
    std::vector<int> points(3 * static_cast<size_t>(n));
    load("data/points.bin", points.data(), points.size() * sizeof(int));

    const int corner[3] = {INT_MAX, INT_MAX, INT_MAX};
    int *dPoints, *dLower;
    uint32_t* dCodes;
    CUDA_OK(cudaMalloc(&dPoints, points.size() * sizeof(int)));
    CUDA_OK(cudaMalloc(&dLower, sizeof corner));
    CUDA_OK(cudaMalloc(&dCodes, n * sizeof(uint32_t)));
    CUDA_OK(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dLower, corner, sizeof corner, cudaMemcpyHostToDevice));

    const int blocks = (n + kThreads - 1) / kThreads;
    findLower<<<blocks < 1024 ? blocks : 1024, kThreads>>>(dPoints, n, dLower);
    CUDA_OK(cudaGetLastError());
    encode<<<blocks, kThreads>>>(dPoints, n, shift, dLower, dCodes);
    CUDA_OK(cudaGetLastError());

    std::vector<uint32_t> codes(n);
    CUDA_OK(cudaMemcpy(codes.data(), dCodes, n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/codes.bin", "wb");
    const bool written = out && fwrite(codes.data(), sizeof(uint32_t), n, out) == codes.size();
    if (!out || fclose(out) != 0 || !written) {
        fprintf(stderr, "data/codes.bin: cannot be written\n");
        return 1;
    }
    CUDA_OK(cudaFree(dPoints));
    CUDA_OK(cudaFree(dLower));
    CUDA_OK(cudaFree(dCodes));
    return 0;
}
