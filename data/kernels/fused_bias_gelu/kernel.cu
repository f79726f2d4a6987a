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

constexpr int kRows = 1500;
constexpr int kCols = 1028;
constexpr int kVecCols = kCols / 4;
static_assert(kCols % 4 == 0, "rows must hold whole float4 values");

__device__ __forceinline__ float gelu(float z) {
    float inner = 0.7978845608f * (z + 0.044715f * z * z * z);
    return 0.5f * z * (1.0f + tanhf(inner));
}

__global__ void biasGelu(const float4* __restrict__ x, const float4* __restrict__ bias, float4* __restrict__ y,
                         int total) {
    __shared__ float4 sharedBias[kVecCols];
    for (int c = threadIdx.x; c < kVecCols; c += blockDim.x) {
        sharedBias[c] = bias[c];
    }
    __syncthreads();

    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
        float4 v = x[i];
        float4 b = sharedBias[i % kVecCols];
        v.x = gelu(v.x + b.x);
        v.y = gelu(v.y + b.y);
        v.z = gelu(v.z + b.z);
        v.w = gelu(v.w + b.w);
        y[i] = v;
    }
}

static std::vector<float> readFloats(const char* path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || static_cast<size_t>(file.tellg()) != count * sizeof(float)) {
        std::fprintf(stderr, "%s: missing or not %zu floats\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    std::vector<float> values(count);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(float));
    if (!file) {
        std::fprintf(stderr, "%s: read failed\n", path);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const size_t count = static_cast<size_t>(kRows) * kCols;
    std::vector<float> x = readFloats("data/x.bin", count);
    std::vector<float> bias = readFloats("data/bias.bin", kCols);

    float4 *dX = nullptr, *dBias = nullptr, *dY = nullptr;
    CUDA_CHECK(cudaMalloc(&dX, count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dBias, kCols * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dY, count * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dX, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dBias, bias.data(), kCols * sizeof(float), cudaMemcpyHostToDevice));

    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    biasGelu<<<4 * multiprocessors, 256>>>(dX, dBias, dY, kRows * kVecCols);
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
