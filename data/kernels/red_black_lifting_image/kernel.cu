#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static constexpr int MAX_SIDE = 16384;
static constexpr int TILE = 32, HALO = 4, SIDE = TILE + 2 * HALO, ROWS = 8;

// The index inside of 0 .. n - 1 that a mirror at both ends shows at i, whatever the distance; n >= 2.
__device__ int mirror(int i, int n) {
    const int period = 2 * (n - 1), wrapped = ((i % period) + period) % period;
    return min(wrapped, period - wrapped);
}

__device__ int cross(const int (*t)[SIDE], int y, int x) {
    return t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1];
}

__device__ int diagonal(const int (*t)[SIDE], int y, int x) {
    return t[y - 1][x - 1] + t[y - 1][x + 1] + t[y + 1][x - 1] + t[y + 1][x + 1];
}

// One stage on the pixels that are at least `margin` away from the rim of the tile. The pixels that it changes are
// never those that it reads, so it works in place.
__device__ void stage(int (*t)[SIDE], int number, int margin) {
    for (int y = margin + threadIdx.y; y < SIDE - margin; y += ROWS) {
        for (int x = margin + threadIdx.x; x < SIDE - margin; x += TILE) {
            const bool black = (y + x) % 2 == 1, oddRow = y % 2 == 1;  // HALO and TILE are even
            if (number == 0 && black) t[y][x] -= (cross(t, y, x) + 2) >> 2;
            if (number == 1 && !black) t[y][x] += (cross(t, y, x) + 4) >> 3;
            if (number == 2 && !black && oddRow) t[y][x] -= (diagonal(t, y, x) + 2) >> 2;
            if (number == 3 && !black && !oddRow) t[y][x] += (diagonal(t, y, x) + 4) >> 3;
        }
    }
}

__global__ void __launch_bounds__(TILE * ROWS) transform(const int16_t* __restrict__ image,
                                                         int* __restrict__ coefficients, int height, int width) {
    __shared__ int t[SIDE][SIDE];
    const int top = blockIdx.y * TILE - HALO, left = blockIdx.x * TILE - HALO;
    for (int y = threadIdx.y; y < SIDE; y += ROWS) {
        const int16_t* row = image + static_cast<size_t>(mirror(top + y, height)) * width;
        for (int x = threadIdx.x; x < SIDE; x += TILE) t[y][x] = row[mirror(left + x, width)];
    }
    __syncthreads();
    for (int number = 0; number < 4; ++number) {
        stage(t, number, number + 1);
        __syncthreads();
    }
    const int x = HALO + threadIdx.x;
    for (int y = HALO + threadIdx.y; y < HALO + TILE; y += ROWS) {
        if (top + y < height && left + x < width) {
            coefficients[static_cast<size_t>(top + y) * width + left + x] = t[y][x];
        }
    }
}

static void expect(bool condition, const char* message) {
    if (condition) return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void cuda(cudaError_t status) { expect(status == cudaSuccess, cudaGetErrorString(status)); }

static void readFile(const char* path, void* to, size_t bytes) {
    FILE* file = fopen(path, "rb");
    expect(file != nullptr, path);
    const bool complete = fread(to, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    expect(complete, path);
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int height = sizes[0], width = sizes[1];
    expect(height >= 2 && height <= MAX_SIDE && width >= 2 && width <= MAX_SIDE, "data/sizes.bin: out of range");
    const size_t count = static_cast<size_t>(height) * width;
    std::vector<int16_t> image(count);
    std::vector<int> coefficients(count);
    readFile("data/image.bin", image.data(), count * sizeof(int16_t));

    int16_t* deviceImage = nullptr;
    int* deviceCoefficients = nullptr;
    cuda(cudaMalloc(&deviceImage, count * sizeof(int16_t)));
    cuda(cudaMalloc(&deviceCoefficients, count * sizeof(int)));
    cuda(cudaMemcpy(deviceImage, image.data(), count * sizeof(int16_t), cudaMemcpyHostToDevice));
    const dim3 block(TILE, ROWS), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    transform<<<grid, block>>>(deviceImage, deviceCoefficients, height, width);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(coefficients.data(), deviceCoefficients, count * sizeof(int), cudaMemcpyDeviceToHost));
    cuda(cudaFree(deviceImage));
    cuda(cudaFree(deviceCoefficients));

    FILE* file = fopen("data/coefficients.bin", "wb");
    expect(file && fwrite(coefficients.data(), sizeof(int), count, file) == count, "data/coefficients.bin");
    expect(fclose(file) == 0, "data/coefficients.bin");
    return 0;
}
