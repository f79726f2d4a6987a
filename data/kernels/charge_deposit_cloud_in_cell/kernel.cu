#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Sum = unsigned long long;  // two's complement: adding unsigned numbers adds signed ones

static void assertCuda(cudaError_t status, int line) {
    if (status != cudaSuccess) {
        fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
        exit(1);
    }
}
#define ASSERT_CUDA(call) assertCuda(call, __LINE__)

template <typename T>
static T* loadToDevice(const char* path, size_t count, std::vector<T>* keep = nullptr) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    T* device;
    ASSERT_CUDA(cudaMalloc(&device, count * sizeof(T)));
    ASSERT_CUDA(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    if (keep) *keep = values;
    return device;
}

constexpr int THREADS = 256, SHARED_CELLS = 4096;

// A block adds into its own copy of the grid if that fits into shared memory, and into the grid itself if not.
__global__ void deposit(const uint32_t* __restrict__ positions, const int* __restrict__ charges, Sum* density,
                        int particles, int height, int width) {
    __shared__ Sum local[SHARED_CELLS];
    const int cells = height * width;
    const bool fits = cells <= SHARED_CELLS;
    if (fits) {
        for (int i = threadIdx.x; i < cells; i += THREADS) local[i] = 0;
        __syncthreads();
    }
    Sum* target = fits ? local : density;
    for (int p = blockIdx.x * THREADS + threadIdx.x; p < particles; p += gridDim.x * THREADS) {
        const uint32_t y = positions[2 * p], x = positions[2 * p + 1];
        const int cy = y >> 8, cx = x >> 8, ny = cy + 1 == height ? 0 : cy + 1, nx = cx + 1 == width ? 0 : cx + 1;
        const long long charge = charges[p], fy = y & 255, fx = x & 255;
        atomicAdd(&target[cy * width + cx], static_cast<Sum>(charge * (256 - fy) * (256 - fx)));
        atomicAdd(&target[cy * width + nx], static_cast<Sum>(charge * (256 - fy) * fx));
        atomicAdd(&target[ny * width + cx], static_cast<Sum>(charge * fy * (256 - fx)));
        atomicAdd(&target[ny * width + nx], static_cast<Sum>(charge * fy * fx));
    }
    if (!fits) return;
    __syncthreads();
    for (int i = threadIdx.x; i < cells; i += THREADS) {
        if (local[i] != 0) atomicAdd(&density[i], local[i]);
    }
}

int main() {
    std::vector<int> sizes;
    std::vector<uint32_t> given;
    int* dSizes = loadToDevice("data/sizes.bin", 3, &sizes);
    ASSERT_CUDA(cudaFree(dSizes));
    const int particles = sizes[0], height = sizes[1], width = sizes[2];
    if (particles < 1 || particles > 1000000 || height < 1 || height > 1024 || width < 1 || width > 1024) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    uint32_t* positions = loadToDevice("data/positions.bin", 2 * static_cast<size_t>(particles), &given);
    int* charges = loadToDevice<int>("data/charges.bin", particles);
    for (int p = 0; p < particles; ++p) {
        if (given[2 * p] >= 256u * height || given[2 * p + 1] >= 256u * width) return 1;
    }
    const size_t cells = static_cast<size_t>(height) * width;
    std::vector<Sum> result(cells);
    Sum* density;
    ASSERT_CUDA(cudaMalloc(&density, cells * sizeof(Sum)));
    ASSERT_CUDA(cudaMemset(density, 0, cells * sizeof(Sum)));
    const int wanted = (particles + THREADS - 1) / THREADS;
    deposit<<<wanted < 512 ? wanted : 512, THREADS>>>(positions, charges, density, particles, height, width);
    ASSERT_CUDA(cudaGetLastError());
    ASSERT_CUDA(cudaMemcpy(result.data(), density, cells * sizeof(Sum), cudaMemcpyDeviceToHost));
    ASSERT_CUDA(cudaFree(positions));
    ASSERT_CUDA(cudaFree(charges));
    ASSERT_CUDA(cudaFree(density));
    FILE* file = fopen("data/density.bin", "wb");
    if (!file || fwrite(result.data(), sizeof(Sum), cells, file) != cells || fclose(file) != 0) return 1;
    return 0;
}
