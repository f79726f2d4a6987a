#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxSamples = 1 << 22, kMaxReach = 2048;
constexpr int kLags = 128, kSlab = 4096, kTile = 512;

__global__ void correlate(const int16_t* __restrict__ a, const int16_t* __restrict__ b, unsigned long long* result,
                          int n, int reach) {
    __shared__ int16_t tileA[kTile + kLags], tileB[kTile];
    const int firstLag = static_cast<int>(blockIdx.x) * kLags - reach;
    const int lag = firstLag + threadIdx.x;
    const int slab = blockIdx.y * kSlab;
    long long sum = 0;
    for (int begin = slab; begin < min(slab + kSlab, n); begin += kTile) {
        __syncthreads();
        for (int t = threadIdx.x; t < kTile; t += kLags) tileB[t] = begin + t < n ? b[begin + t] : int16_t{0};
        for (int t = threadIdx.x; t < kTile + kLags; t += kLags) {
            const int at = begin + firstLag + t;
            tileA[t] = at >= 0 && at < n ? a[at] : int16_t{0};
        }
        __syncthreads();
        for (int t = 0; t < kTile; ++t) sum += static_cast<int>(tileA[t + threadIdx.x]) * tileB[t];
    }
    if (lag <= reach && sum != 0) atomicAdd(&result[reach + lag], static_cast<unsigned long long>(sum));
}

static void die(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) die(what, cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) die(path, "cannot be opened");
    fseek(file, 0, SEEK_END);
    if (ftell(file) != static_cast<long>(bytes)) die(path, "has an unexpected length");
    rewind(file);
    if (fread(data, 1, bytes, file) != bytes) die(path, "cannot be read");
    fclose(file);
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], reach = sizes[1];
    if (n < 1 || n > kMaxSamples || reach < 1 || reach > kMaxReach) die("data/sizes.bin", "out of range");
    const size_t bytes = n * sizeof(int16_t);
    const int lags = 2 * reach + 1;

    // Page-locked host memory, so that both uploads overlap with the reading of the other file.
    int16_t *a, *b, *dA, *dB;
    long long* result;
    unsigned long long* dResult;
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), "stream");
    check(cudaMallocHost(&a, bytes), "host memory");
    check(cudaMallocHost(&b, bytes), "host memory");
    check(cudaMallocHost(&result, lags * sizeof(long long)), "host memory");
    check(cudaMalloc(&dA, bytes), "device memory");
    check(cudaMalloc(&dB, bytes), "device memory");
    check(cudaMalloc(&dResult, lags * sizeof(long long)), "device memory");
    readFile("data/a.bin", a, bytes);
    check(cudaMemcpyAsync(dA, a, bytes, cudaMemcpyHostToDevice, stream), "upload a");
    check(cudaMemsetAsync(dResult, 0, lags * sizeof(long long), stream), "clear");
    readFile("data/b.bin", b, bytes);
    check(cudaMemcpyAsync(dB, b, bytes, cudaMemcpyHostToDevice, stream), "upload b");

    const dim3 grid((lags + kLags - 1) / kLags, (n + kSlab - 1) / kSlab);
    correlate<<<grid, kLags, 0, stream>>>(dA, dB, dResult, n, reach);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpyAsync(result, dResult, lags * sizeof(long long), cudaMemcpyDeviceToHost, stream), "download");
    check(cudaStreamSynchronize(stream), "synchronise");

    FILE* out = fopen("data/correlation.bin", "wb");
    const bool whole = out && fwrite(result, sizeof(long long), lags, out) == static_cast<size_t>(lags);
    if (!out || fclose(out) != 0 || !whole) die("data/correlation.bin", "cannot be written");
    check(cudaFree(dA), "free");
    check(cudaFree(dB), "free");
    check(cudaFree(dResult), "free");
    check(cudaFreeHost(a), "free");
    check(cudaFreeHost(b), "free");
    check(cudaFreeHost(result), "free");
    check(cudaStreamDestroy(stream), "stream");
    return 0;
}
