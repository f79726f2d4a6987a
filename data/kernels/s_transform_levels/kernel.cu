#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxRows = 65535, kMaxLength = 65536, kMaxLevels = 8;
constexpr int kThreads = 256, kSamples = 2 * kThreads;

__global__ void sTransform(const int16_t* __restrict__ x, int* __restrict__ y, int n, int levels) {
    __shared__ int low[kSamples];
    const int begin = blockIdx.x * kSamples;
    const int count = min(kSamples, n - begin);  // a multiple of 2^levels
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    for (int k = threadIdx.x; k < count; k += kThreads) low[k] = x[row + begin + k];
    __syncthreads();

    const int t = threadIdx.x;
    for (int level = 1; level <= levels; ++level) {
        const bool active = t < count >> level;
        const int a = active ? low[2 * t] : 0, b = active ? low[2 * t + 1] : 0;
        __syncthreads();
        if (active) {
            low[t] = (a + b) >> 1;
            y[row + (n >> level) + (begin >> level) + t] = a - b;
        }
        __syncthreads();
    }
    for (int k = t; k < count >> levels; k += kThreads) y[row + (begin >> levels) + k] = low[k];
}

static int fail(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    return EXIT_FAILURE;
}

static bool readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    const bool exact = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    return exact;
}

int main() {
    int sizes[3];
    if (!readFile("data/sizes.bin", sizes, sizeof sizes)) return fail("data/sizes.bin", "expected three values");
    const int rows = sizes[0], n = sizes[1], levels = sizes[2];
    if (rows < 1 || rows > kMaxRows || n < 2 || n > kMaxLength || levels < 1 || levels > kMaxLevels) {
        return fail("data/sizes.bin", "out of range");
    }
    if (n % (1 << levels) != 0) return fail("data/sizes.bin", "n is no multiple of 2^levels");
    const size_t count = static_cast<size_t>(rows) * n;
    std::vector<int16_t> x(count);
    if (!readFile("data/x.bin", x.data(), count * sizeof(int16_t))) return fail("data/x.bin", "wrong length");

    int16_t* dX = nullptr;
    int* dY = nullptr;
    std::vector<int> y(count);
    cudaError_t status = cudaMalloc(&dX, count * sizeof(int16_t));
    if (status == cudaSuccess) status = cudaMalloc(&dY, count * sizeof(int));
    if (status == cudaSuccess) status = cudaMemcpy(dX, x.data(), count * sizeof(int16_t), cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        sTransform<<<dim3((n + kSamples - 1) / kSamples, rows), kThreads>>>(dX, dY, n, levels);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(y.data(), dY, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(dX);
    cudaFree(dY);
    if (status != cudaSuccess) return fail("CUDA", cudaGetErrorString(status));

    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(y.data(), sizeof(int), count, out) != count || fclose(out) != 0) {
        return fail("data/y.bin", "cannot be written");
    }
    return EXIT_SUCCESS;
}
