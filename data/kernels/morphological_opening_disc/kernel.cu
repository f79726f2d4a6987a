#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_SIDE = 8192, MAX_RADIUS = 15;
constexpr int TILE = 32;  // a block makes TILE x TILE pixels
constexpr int ROWS = 8;   // threads along y

__constant__ int halfWidth[2 * MAX_RADIUS + 1];  // of the disc, row by row from the top

struct Erode {
    static constexpr int identity = 255;
    static __device__ int combine(int a, int b) { return min(a, b); }
};

struct Dilate {
    static constexpr int identity = 0;
    static __device__ int combine(int a, int b) { return max(a, b); }
};

template <typename Operation>
__global__ void morph(const uint8_t* __restrict__ in, uint8_t* __restrict__ out, size_t pitch, int height, int width,
                      int radius) {
    extern __shared__ uint8_t tile[];
    const int span = TILE + 2 * radius;
    const int x0 = blockIdx.x * TILE - radius, y0 = blockIdx.y * TILE - radius;
    for (int e = threadIdx.y * TILE + threadIdx.x; e < span * span; e += TILE * ROWS) {
        const int x = x0 + e % span, y = y0 + e / span;
        const bool inside = x >= 0 && x < width && y >= 0 && y < height;
        tile[e] = inside ? in[y * pitch + x] : Operation::identity;
    }
    __syncthreads();

    const int x = blockIdx.x * TILE + threadIdx.x;
    for (int ty = threadIdx.y; ty < TILE; ty += ROWS) {
        const int y = blockIdx.y * TILE + ty;
        if (x >= width || y >= height) continue;
        int result = Operation::identity;
        for (int dy = 0; dy <= 2 * radius; ++dy) {
            const int reach = halfWidth[dy];
            const uint8_t* row = tile + (ty + dy) * span + threadIdx.x + radius;
            for (int dx = -reach; dx <= reach; ++dx) result = Operation::combine(result, row[dx]);
        }
        out[y * pitch + x] = static_cast<uint8_t>(result);
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
    const int height = sizes[0], width = sizes[1], radius = sizes[2];
    const bool sides = height >= 1 && height <= MAX_SIDE && width >= 1 && width <= MAX_SIDE;
    if (!sides || radius < 1 || radius > MAX_RADIUS) {
        fprintf(stderr, "data/sizes.bin: %d x %d pixels, radius %d: out of range\n", height, width, radius);
        return 1;
    }
    std::vector<uint8_t> image = readArray<uint8_t>("data/gray.bin", static_cast<size_t>(height) * width);

    int reach[2 * MAX_RADIUS + 1] = {};
    for (int dy = -radius; dy <= radius; ++dy) {
        while ((reach[dy + radius] + 1) * (reach[dy + radius] + 1) + dy * dy <= radius * radius) ++reach[dy + radius];
    }
    CUDA_CHECK(cudaMemcpyToSymbol(halfWidth, reach, sizeof(reach)));

    uint8_t *gray, *eroded;
    size_t pitch, pitchEroded;
    CUDA_CHECK(cudaMallocPitch(&gray, &pitch, width, height));
    CUDA_CHECK(cudaMallocPitch(&eroded, &pitchEroded, width, height));
    if (pitchEroded != pitch) {
        fprintf(stderr, "the two images have different pitches\n");
        return 1;
    }
    CUDA_CHECK(cudaMemcpy2D(gray, pitch, image.data(), width, width, height, cudaMemcpyHostToDevice));

    const dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    const size_t sharedBytes = (TILE + 2 * radius) * (TILE + 2 * radius);
    morph<Erode><<<grid, dim3(TILE, ROWS), sharedBytes>>>(gray, eroded, pitch, height, width, radius);
    CUDA_CHECK(cudaGetLastError());
    morph<Dilate><<<grid, dim3(TILE, ROWS), sharedBytes>>>(eroded, gray, pitch, height, width, radius);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy2D(image.data(), width, gray, pitch, width, height, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(gray));
    CUDA_CHECK(cudaFree(eroded));
    writeArray("data/opened.bin", image);
    return 0;
}
