#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr int kMaxRows = 65535, kMinLength = 2, kMaxLength = 262144, kMaxLevels = 10;
constexpr int kThreads = 256, kTaps = 4;

__constant__ float lowPass[kTaps], highPass[kTaps];

__global__ void oneLevel(const float* __restrict__ current, float* __restrict__ next, float* __restrict__ detail,
                         int n, int dilation) {
    const int t = blockIdx.x * kThreads + threadIdx.x;
    if (t >= n) return;
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    float low = 0.0f, high = 0.0f;
    int at = t;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
        const float value = current[row + at];
        low += lowPass[k] * value;
        high += highPass[k] * value;
        at -= dilation;  // below n
        if (at < 0) at += n;
    }
    next[row + t] = low;
    detail[row + t] = high;
}

#define MUST(condition, ...)              \
    do {                                  \
        if (!(condition)) {               \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr);          \
            exit(1);                      \
        }                                 \
    } while (0)

static void gpu(cudaError_t status) { MUST(status == cudaSuccess, "CUDA: %s", cudaGetErrorString(status)); }

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    MUST(file, "%s: cannot be opened", path);
    MUST(fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF, "%s: expected %zu bytes", path, bytes);
    fclose(file);
}

static void writeDevice(const char* path, const float* device, size_t count) {
    std::vector<float> host(count);
    gpu(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    MUST(file && fwrite(host.data(), sizeof(float), count, file) == count, "%s: cannot be written", path);
    MUST(fclose(file) == 0, "%s: cannot be closed", path);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int rows = sizes[0], n = sizes[1], levels = sizes[2];
    MUST(rows >= 1 && rows <= kMaxRows, "data/sizes.bin: rows is %d", rows);
    MUST(n >= kMinLength && n <= kMaxLength, "data/sizes.bin: n is %d", n);
    MUST(levels >= 1 && levels <= kMaxLevels, "data/sizes.bin: levels is %d", levels);
    const size_t count = static_cast<size_t>(rows) * n;
    std::vector<float> x(count);
    readFile("data/x.bin", x.data(), count * sizeof(float));

    const double s = std::sqrt(3.0);
    const float h[kTaps] = {static_cast<float>((1 + s) / 8), static_cast<float>((3 + s) / 8),
                            static_cast<float>((3 - s) / 8), static_cast<float>((1 - s) / 8)};
    const float g[kTaps] = {h[3], -h[2], h[1], -h[0]};
    gpu(cudaMemcpyToSymbol(lowPass, h, sizeof h));
    gpu(cudaMemcpyToSymbol(highPass, g, sizeof g));

    float *current, *next, *details;
    gpu(cudaMalloc(&current, count * sizeof(float)));
    gpu(cudaMalloc(&next, count * sizeof(float)));
    gpu(cudaMalloc(&details, count * levels * sizeof(float)));
    gpu(cudaMemcpy(current, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    const dim3 grid((n + kThreads - 1) / kThreads, rows);
    for (int level = 0; level < levels; ++level) {
        oneLevel<<<grid, kThreads>>>(current, next, details + level * count, n, (1 << level) % n);
        gpu(cudaGetLastError());
        std::swap(current, next);
    }
    writeDevice("data/details.bin", details, count * levels);
    writeDevice("data/rest.bin", current, count);
    gpu(cudaFree(current));
    gpu(cudaFree(next));
    gpu(cudaFree(details));
    return 0;
}
