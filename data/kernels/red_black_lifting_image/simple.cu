#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static constexpr int MAX_SIDE = 16384;

// A neighbour beyond an edge is the one on the other side: -1 becomes 1, n becomes n - 2.
__device__ int mirror(int i, int n) { return i < 0 ? 1 : i >= n ? n - 2 : i; }

__global__ void widen(const int16_t* image, int* a, int height, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    const size_t at = static_cast<size_t>(i) * width + j;
    a[at] = image[at];
}

// One of the four stages, in place: the pixels that it changes are never those that it reads.
__global__ void stage(int* a, int number, int height, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    const bool black = (i + j) % 2 == 1;
    const bool chosen = number == 0 ? black : number == 1 ? !black : !black && i % 2 == (number == 2);
    if (!chosen) return;
    const size_t up = static_cast<size_t>(mirror(i - 1, height)) * width;
    const size_t down = static_cast<size_t>(mirror(i + 1, height)) * width;
    const size_t here = static_cast<size_t>(i) * width;
    const int left = mirror(j - 1, width), right = mirror(j + 1, width);
    int sum;
    if (number < 2) {
        sum = a[up + j] + a[down + j] + a[here + left] + a[here + right];
    } else {
        sum = a[up + left] + a[up + right] + a[down + left] + a[down + right];
    }
    if (number % 2 == 0) a[here + j] -= (sum + 2) >> 2;
    else a[here + j] += (sum + 4) >> 3;
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
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    widen<<<grid, block>>>(deviceImage, deviceCoefficients, height, width);
    for (int number = 0; number < 4; ++number) stage<<<grid, block>>>(deviceCoefficients, number, height, width);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(coefficients.data(), deviceCoefficients, count * sizeof(int), cudaMemcpyDeviceToHost));
    cuda(cudaFree(deviceImage));
    cuda(cudaFree(deviceCoefficients));

    FILE* file = fopen("data/coefficients.bin", "wb");
    expect(file && fwrite(coefficients.data(), sizeof(int), count, file) == count, "data/coefficients.bin");
    expect(fclose(file) == 0, "data/coefficients.bin");
    return 0;
}
