#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_N = 1 << 26;
constexpr int BLOCKS = 512;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

__device__ double warpSum(double value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

// Returns the sum of all threads' values in thread 0; the other threads get partial results.
__device__ double blockSum(double value) {
    __shared__ double warpTotals[WARPS];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    value = warpSum(value);
    if (lane == 0) {
        warpTotals[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = lane < WARPS ? warpTotals[lane] : 0.0;
        value = warpSum(value);
    }
    return value;
}

__global__ void dotPartial(const float* __restrict__ a, const float* __restrict__ b, double* partial, int n) {
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void sumPartial(const double* __restrict__ partial, double* total, int n) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += partial[i];
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    if (bytes != static_cast<long>(count * sizeof(T)) || fread(values.data(), sizeof(T), count, file) != count) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    fclose(file);
    return values;
}

int main() {
    const int n = load<int>("data/sizes.bin", 1)[0];
    if (n < 1 || n > MAX_N) {
        fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, MAX_N);
        return 1;
    }
    std::vector<float> a = load<float>("data/a.bin", n);
    std::vector<float> b = load<float>("data/b.bin", n);
    const size_t bytes = n * sizeof(float);

    float *dA, *dB;
    double *dPartial, *dTotal;
    check(cudaMalloc(&dA, bytes), "allocate a");
    check(cudaMalloc(&dB, bytes), "allocate b");
    check(cudaMalloc(&dPartial, BLOCKS * sizeof(double)), "allocate partial sums");
    check(cudaMalloc(&dTotal, sizeof(double)), "allocate total");
    check(cudaMemcpy(dA, a.data(), bytes, cudaMemcpyHostToDevice), "copy a");
    check(cudaMemcpy(dB, b.data(), bytes, cudaMemcpyHostToDevice), "copy b");

    dotPartial<<<BLOCKS, THREADS>>>(dA, dB, dPartial, n);
    check(cudaGetLastError(), "launch dotPartial");
    sumPartial<<<1, THREADS>>>(dPartial, dTotal, BLOCKS);
    check(cudaGetLastError(), "launch sumPartial");

    double total = 0.0;
    check(cudaMemcpy(&total, dTotal, sizeof(double), cudaMemcpyDeviceToHost), "copy the result");
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dPartial);
    cudaFree(dTotal);

    FILE* out = fopen("data/dot.bin", "wb");
    if (!out || fwrite(&total, sizeof(double), 1, out) != 1 || fclose(out) != 0) {
        fprintf(stderr, "cannot write data/dot.bin\n");
        return 1;
    }
    return 0;
}
