#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_PLANES = 65535, MAX_SIDE = 1024;
constexpr int BLOCK_X = 32, BLOCK_Y = 8;

// Unsigned integers in the order of the floats; adding zero makes the two zeros equal.
__device__ __forceinline__ uint32_t orderedBits(float value) {
    const uint32_t bits = __float_as_uint(value + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void maxPool(const float* __restrict__ activations, float* __restrict__ pooled, int* __restrict__ indices,
                        int height, int width) {
    const int outHeight = (height + 1) / 2, outWidth = (width + 1) / 2;
    const int ox = blockIdx.x * BLOCK_X + threadIdx.x;
    const int oy = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (ox >= outWidth || oy >= outHeight) return;
    const float* plane = activations + static_cast<size_t>(blockIdx.z) * height * width;

    // The complement of the index in the low half lets the smallest index win among equal values.
    uint64_t best = 0;
    for (int y = max(2 * oy - 1, 0); y <= min(2 * oy + 1, height - 1); ++y) {
        for (int x = max(2 * ox - 1, 0); x <= min(2 * ox + 1, width - 1); ++x) {
            const uint32_t index = y * width + x;
            const uint64_t key = static_cast<uint64_t>(orderedBits(plane[index])) << 32 | ~index;
            best = max(best, key);
        }
    }
    const uint32_t winner = ~static_cast<uint32_t>(best);
    const size_t target = (static_cast<size_t>(blockIdx.z) * outHeight + oy) * outWidth + ox;
    pooled[target] = plane[winner];
    indices[target] = static_cast<int>(winner);
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
    const int planes = sizes[0], height = sizes[1], width = sizes[2];
    if (planes < 1 || planes > MAX_PLANES || height < 1 || height > MAX_SIDE || width < 1 || width > MAX_SIDE) {
        fprintf(stderr, "data/sizes.bin: %d planes of %d x %d: out of range\n", planes, height, width);
        return 1;
    }
    const std::vector<float> activations =
        readArray<float>("data/activations.bin", static_cast<size_t>(planes) * height * width);
    const int outHeight = (height + 1) / 2, outWidth = (width + 1) / 2;
    std::vector<float> pooled(static_cast<size_t>(planes) * outHeight * outWidth);
    std::vector<int> indices(pooled.size());
    const size_t bytesIn = activations.size() * sizeof(float), bytesOut = pooled.size() * sizeof(float);

    float *dActivations, *dPooled;
    int* dIndices;
    CUDA_CHECK(cudaMalloc(&dActivations, bytesIn));
    CUDA_CHECK(cudaMalloc(&dPooled, bytesOut));
    CUDA_CHECK(cudaMalloc(&dIndices, bytesOut));
    CUDA_CHECK(cudaMemcpy(dActivations, activations.data(), bytesIn, cudaMemcpyHostToDevice));

    const dim3 grid((outWidth + BLOCK_X - 1) / BLOCK_X, (outHeight + BLOCK_Y - 1) / BLOCK_Y, planes);
    maxPool<<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(dActivations, dPooled, dIndices, height, width);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(pooled.data(), dPooled, bytesOut, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(indices.data(), dIndices, bytesOut, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dActivations));
    CUDA_CHECK(cudaFree(dPooled));
    CUDA_CHECK(cudaFree(dIndices));
    writeArray("data/pooled.bin", pooled);
    writeArray("data/indices.bin", indices);
    return 0;
}
