#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                        \
    do {                                                                                        \
        cudaError_t status_ = (call);                                                           \
        if (status_ != cudaSuccess) {                                                           \
            fprintf(stderr, "line %d, %s: %s\n", __LINE__, #call, cudaGetErrorString(status_)); \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

static const int MAX_POINTS = 1 << 26;
static const int MAX_ROWS = 160;
static const int MAX_COLS = 96;
static const int THREADS = 512;

__global__ void jointHistogram(const float* __restrict__ x, const float* __restrict__ y, int n, int rows, int cols,
                               uint32_t* counts, uint32_t* outside) {
    extern __shared__ uint32_t bins[];  // rows * cols counters
    for (int b = threadIdx.x; b < rows * cols; b += blockDim.x) {
        bins[b] = 0;
    }
    __syncthreads();

    uint32_t missed = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float u = x[i], v = y[i];
        if (u >= 0.0f && u < 1.0f && v >= 0.0f && v < 1.0f) {
            int row = min(static_cast<int>(u * static_cast<float>(rows)), rows - 1);
            int col = min(static_cast<int>(v * static_cast<float>(cols)), cols - 1);
            atomicAdd(&bins[row * cols + col], 1u);
        } else {
            ++missed;
        }
    }
    // All lanes are here again: the loop above has no early exit.
    for (int d = 16; d > 0; d /= 2) {
        missed += __shfl_down_sync(0xffffffffu, missed, d);
    }
    if (threadIdx.x % 32 == 0 && missed > 0) {
        atomicAdd(outside, missed);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < rows * cols; b += blockDim.x) {
        if (bins[b] > 0) {
            atomicAdd(&counts[b], bins[b]);
        }
    }
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count + 1);  // one more, to notice a file that is too long
    FILE* file = fopen(path, "rb");
    size_t got = file ? fread(values.data(), sizeof(T), values.size(), file) : 0;
    if (file) fclose(file);
    if (got != count) {
        fprintf(stderr, "%s: expected %zu values, found %zu or more\n", path, count, got);
        exit(1);
    }
    values.pop_back();
    return values;
}

static void store(const char* path, const uint32_t* values, size_t count) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values, sizeof(uint32_t), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 3);
    const int points = sizes[0], rows = sizes[1], cols = sizes[2];
    if (points < 1 || points > MAX_POINTS || rows < 1 || rows > MAX_ROWS || cols < 1 || cols > MAX_COLS) {
        fprintf(stderr, "data/sizes.bin: (%d, %d, %d) is out of range\n", points, rows, cols);
        return 1;
    }
    const std::vector<float> x = load<float>("data/x.bin", points);
    const std::vector<float> y = load<float>("data/y.bin", points);
    const size_t bytes = points * sizeof(float);
    const int sharedBytes = rows * cols * sizeof(uint32_t);

    int device = 0, multiprocessors = 0, sharedLimit = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sharedLimit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (sharedBytes > sharedLimit) {
        fprintf(stderr, "%d bytes of shared memory per block are needed, the device has %d\n", sharedBytes,
                sharedLimit);
        return 1;
    }
    CUDA_CHECK(cudaFuncSetAttribute(jointHistogram, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes));

    float *dX, *dY;
    uint32_t *dCounts, *dOutside;
    CUDA_CHECK(cudaMalloc(&dX, bytes));
    CUDA_CHECK(cudaMalloc(&dY, bytes));
    CUDA_CHECK(cudaMalloc(&dCounts, sharedBytes));
    CUDA_CHECK(cudaMalloc(&dOutside, sizeof(uint32_t)));
    CUDA_CHECK(cudaMemcpy(dX, x.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dY, y.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(dCounts, 0, sharedBytes));
    CUDA_CHECK(cudaMemset(dOutside, 0, sizeof(uint32_t)));

    jointHistogram<<<multiprocessors, THREADS, sharedBytes>>>(dX, dY, points, rows, cols, dCounts, dOutside);
    CUDA_CHECK(cudaGetLastError());

    std::vector<uint32_t> counts(rows * cols);
    uint32_t outside = 0;
    CUDA_CHECK(cudaMemcpy(counts.data(), dCounts, sharedBytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&outside, dOutside, sizeof(uint32_t), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dX));
    CUDA_CHECK(cudaFree(dY));
    CUDA_CHECK(cudaFree(dCounts));
    CUDA_CHECK(cudaFree(dOutside));
    store("data/counts.bin", counts.data(), counts.size());
    store("data/outside.bin", &outside, 1);
    return 0;
}
