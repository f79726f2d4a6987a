#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                         \
    do {                                                                                         \
        cudaError_t status = (call);                                                             \
        if (status != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(EXIT_FAILURE);                                                             \
        }                                                                                        \
    } while (0)

constexpr int kMaxRows = 16384;
constexpr int kMaxCols = 8192;  // a bias of 32 KiB

__device__ __forceinline__ float gelu(float z) {
    float inner = 0.7978845608f * (z + 0.044715f * z * z * z);
    return 0.5f * z * (1.0f + tanhf(inner));
}

__device__ __forceinline__ int nextColumn(int c, int cols) { return c + 1 < cols ? c + 1 : 0; }

__global__ void biasGelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int total,
                         int cols) {
    extern __shared__ float sharedBias[];
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        sharedBias[c] = bias[c];
    }
    __syncthreads();

    const float4* vectorX = reinterpret_cast<const float4*>(x);
    float4* vectorY = reinterpret_cast<float4*>(y);
    const int vectors = total / 4;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < vectors; i += gridDim.x * blockDim.x) {
        float4 v = vectorX[i];
        int c = 4 * i % cols;
        v.x = gelu(v.x + sharedBias[c]);
        c = nextColumn(c, cols);
        v.y = gelu(v.y + sharedBias[c]);
        c = nextColumn(c, cols);
        v.z = gelu(v.z + sharedBias[c]);
        c = nextColumn(c, cols);
        v.w = gelu(v.w + sharedBias[c]);
        vectorY[i] = v;
    }
    const int rest = 4 * vectors + first;  // at most 3 values, for the first threads of the grid
    if (rest < total) {
        y[rest] = gelu(x[rest] + sharedBias[rest % cols]);
    }
}

template <typename T>
static std::vector<T> readValues(const char* path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || static_cast<size_t>(file.tellg()) != count * sizeof(T)) {
        std::fprintf(stderr, "%s: missing or not %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    std::vector<T> values(count);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) {
        std::fprintf(stderr, "%s: read failed\n", path);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const std::vector<int> sizes = readValues<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        std::fprintf(stderr, "data/sizes.bin: %d x %d is not supported\n", rows, cols);
        return EXIT_FAILURE;
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    const std::vector<float> x = readValues<float>("data/x.bin", count);
    const std::vector<float> bias = readValues<float>("data/bias.bin", cols);

    float *dX = nullptr, *dBias = nullptr, *dY = nullptr;
    CUDA_CHECK(cudaMalloc(&dX, count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dBias, cols * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dY, count * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dX, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dBias, bias.data(), cols * sizeof(float), cudaMemcpyHostToDevice));

    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    biasGelu<<<4 * multiprocessors, 256, cols * sizeof(float)>>>(dX, dBias, dY, rows * cols, cols);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> y(count);
    CUDA_CHECK(cudaMemcpy(y.data(), dY, count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dX));
    CUDA_CHECK(cudaFree(dBias));
    CUDA_CHECK(cudaFree(dY));

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), count * sizeof(float));
    out.close();
    return out ? EXIT_SUCCESS : EXIT_FAILURE;
}
