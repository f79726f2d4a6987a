#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr int THREADS = 256, MAX_BLOCKS = 1024;
constexpr int MAX_SIDE = 8192, MAX_STEPS = 1000;

__global__ void upwindStep(const float* __restrict__ now, float* __restrict__ next, const float2* __restrict__ courant,
                           int ny, int nx) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < ny * nx; k += gridDim.x * blockDim.x) {
        const int y = k / nx, x = k % nx;
        const float west = now[x == 0 ? k + nx - 1 : k - 1];
        const float east = now[x == nx - 1 ? k - x : k + 1];
        const float south = now[y == 0 ? k + (ny - 1) * nx : k - nx];
        const float north = now[y == ny - 1 ? x : k + nx];
        const float2 c = courant[k];
        const float q = now[k];
        // The difference is taken on the side the flow comes from.
        const float alongX = fmaxf(c.x, 0.0f) * (q - west) + fminf(c.x, 0.0f) * (east - q);
        const float alongY = fmaxf(c.y, 0.0f) * (q - south) + fminf(c.y, 0.0f) * (north - q);
        next[k] = q - alongX - alongY;
    }
}

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t error_ = (call);                                                      \
        if (error_ != cudaSuccess) {                                                      \
            fprintf(stderr, "CUDA, line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    const bool exact = file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

template <typename T>
static void writeArray(const char* path, const std::vector<T>& values) {
    FILE* file = fopen(path, "wb");
    const bool written = file && fwrite(values.data(), sizeof(T), values.size(), file) == values.size();
    if (!file || fclose(file) != 0 || !written) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 3);
    const int ny = sizes[0], nx = sizes[1], steps = sizes[2];
    if (ny < 1 || ny > MAX_SIDE || nx < 1 || nx > MAX_SIDE || steps < 1 || steps > MAX_STEPS) {
        fprintf(stderr, "data/sizes.bin: %d x %d cells, %d steps: not supported\n", ny, nx, steps);
        return 1;
    }
    const int cells = ny * nx;
    std::vector<float> density = readArray<float>("data/density.bin", cells);
    const std::vector<float2> courant = readArray<float2>("data/courant.bin", cells);
    const size_t bytes = cells * sizeof(float);

    cudaStream_t stream;
    float *now, *next;
    float2* dCourant;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaMallocAsync(&now, bytes, stream));
    CUDA_CHECK(cudaMallocAsync(&next, bytes, stream));
    CUDA_CHECK(cudaMallocAsync(&dCourant, cells * sizeof(float2), stream));
    CUDA_CHECK(cudaMemcpyAsync(now, density.data(), bytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(dCourant, courant.data(), cells * sizeof(float2), cudaMemcpyHostToDevice, stream));

    const int blocks = std::min((cells + THREADS - 1) / THREADS, MAX_BLOCKS);
    for (int step = 0; step < steps; ++step) {
        upwindStep<<<blocks, THREADS, 0, stream>>>(now, next, dCourant, ny, nx);
        CUDA_CHECK(cudaGetLastError());
        std::swap(now, next);
    }

    CUDA_CHECK(cudaMemcpyAsync(density.data(), now, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaFreeAsync(now, stream));
    CUDA_CHECK(cudaFreeAsync(next, stream));
    CUDA_CHECK(cudaFreeAsync(dCourant, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));
    writeArray("data/advected.bin", density);
    return 0;
}
