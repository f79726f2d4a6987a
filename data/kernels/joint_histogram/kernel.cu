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

static const int POINTS = 1200007;
static const int ROWS = 160;
static const int COLS = 96;
static const int BINS = ROWS * COLS;
static const int THREADS = 512;

__global__ void jointHistogram(const float* __restrict__ x, const float* __restrict__ y, int n, uint32_t* counts,
                               uint32_t* outside) {
    extern __shared__ uint32_t bins[];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        bins[b] = 0;
    }
    __syncthreads();

    uint32_t missed = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float u = x[i], v = y[i];
        if (u >= 0.0f && u < 1.0f && v >= 0.0f && v < 1.0f) {
            int row = min(static_cast<int>(u * 160.0f), ROWS - 1);
            int col = min(static_cast<int>(v * 96.0f), COLS - 1);
            atomicAdd(&bins[row * COLS + col], 1u);
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

    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        if (bins[b] > 0) {
            atomicAdd(&counts[b], bins[b]);
        }
    }
}

static std::vector<float> load(const char* path) {
    std::vector<float> values(POINTS + 1);
    FILE* file = fopen(path, "rb");
    size_t got = file ? fread(values.data(), sizeof(float), values.size(), file) : 0;
    if (file) fclose(file);
    if (got != static_cast<size_t>(POINTS)) {
        fprintf(stderr, "%s: expected %d floats, found %zu or more\n", path, POINTS, got);
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
    std::vector<float> x = load("data/x.bin");
    std::vector<float> y = load("data/y.bin");
    const size_t bytes = POINTS * sizeof(float);
    const int sharedBytes = BINS * sizeof(uint32_t);

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

    jointHistogram<<<multiprocessors, THREADS, sharedBytes>>>(dX, dY, POINTS, dCounts, dOutside);
    CUDA_CHECK(cudaGetLastError());

    std::vector<uint32_t> counts(BINS);
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
