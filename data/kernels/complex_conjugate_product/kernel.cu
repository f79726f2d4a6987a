#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            std::fprintf(stderr, "CUDA error, line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)

constexpr int kThreads = 256;
constexpr int kBlocksPerProcessor = 8;
constexpr int kMaxPoints = 1 << 25;

__device__ __forceinline__ float2 timesConjugate(float2 x, float2 y) {
    return make_float2(x.x * y.x + x.y * y.y, x.y * y.x - x.x * y.y);
}

__global__ void crossProducts(const float2* __restrict__ x, const float2* __restrict__ y, float2* __restrict__ z,
                              int n) {
    const float4* x2 = reinterpret_cast<const float4*>(x);
    const float4* y2 = reinterpret_cast<const float4*>(y);
    float4* z2 = reinterpret_cast<float4*>(z);
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;

    for (int i = first; i < n / 2; i += stride) {
        const float4 a = x2[i];
        const float4 b = y2[i];
        const float2 even = timesConjugate(make_float2(a.x, a.y), make_float2(b.x, b.y));
        const float2 odd = timesConjugate(make_float2(a.z, a.w), make_float2(b.z, b.w));
        z2[i] = make_float4(even.x, even.y, odd.x, odd.y);
    }
    if (first == 0 && n % 2 == 1) {
        z[n - 1] = timesConjugate(x[n - 1], y[n - 1]);
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        std::exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const int n = readFile<int>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxPoints) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxPoints);
        return EXIT_FAILURE;
    }
    const std::vector<float2> x = readFile<float2>("data/x.bin", n);
    const std::vector<float2> y = readFile<float2>("data/y.bin", n);

    const size_t bytes = n * sizeof(float2);
    float2 *dX = nullptr, *dY = nullptr, *dZ = nullptr;
    CUDA_CHECK(cudaMalloc(&dX, bytes));
    CUDA_CHECK(cudaMalloc(&dY, bytes));
    CUDA_CHECK(cudaMalloc(&dZ, bytes));
    CUDA_CHECK(cudaMemcpy(dX, x.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dY, y.data(), bytes, cudaMemcpyHostToDevice));

    int device = 0, processors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int vectors = (n + 1) / 2;
    const int blocks = std::min((vectors + kThreads - 1) / kThreads, kBlocksPerProcessor * processors);
    crossProducts<<<blocks, kThreads>>>(dX, dY, dZ, n);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float2> z(n);
    CUDA_CHECK(cudaMemcpy(z.data(), dZ, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dX));
    CUDA_CHECK(cudaFree(dY));
    CUDA_CHECK(cudaFree(dZ));

    std::ofstream out("data/z.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(z.data()), bytes);
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/z.bin: write failed\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
