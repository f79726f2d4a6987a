#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Sum = unsigned long long;

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

__global__ void deposit(const uint32_t* positions, const int* charges, Sum* density, int particles, int height,
                        int width) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= particles) return;
    const int y = positions[2 * p], x = positions[2 * p + 1];
    for (int dy = 0; dy < 2; ++dy) {
        for (int dx = 0; dx < 2; ++dx) {
            const long long wy = dy ? y % 256 : 256 - y % 256, wx = dx ? x % 256 : 256 - x % 256;
            const int cell = (y / 256 + dy) % height * width + (x / 256 + dx) % width;
            atomicAdd(&density[cell], static_cast<Sum>(wy * wx * charges[p]));
        }
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
    deposit<<<(particles + 255) / 256, 256>>>(positions, charges, density, particles, height, width);
    ASSERT_CUDA(cudaGetLastError());
    ASSERT_CUDA(cudaMemcpy(result.data(), density, cells * sizeof(Sum), cudaMemcpyDeviceToHost));
    ASSERT_CUDA(cudaFree(positions));
    ASSERT_CUDA(cudaFree(charges));
    ASSERT_CUDA(cudaFree(density));
    FILE* file = fopen("data/density.bin", "wb");
    if (!file || fwrite(result.data(), sizeof(Sum), cells, file) != cells || fclose(file) != 0) return 1;
    return 0;
}
