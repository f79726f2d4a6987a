#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#define CUDA_OR_DIE(call)                                                                         \
    do {                                                                                          \
        cudaError_t status_ = (call);                                                             \
        if (status_ != cudaSuccess) die(std::string(#call) + ": " + cudaGetErrorString(status_)); \
    } while (0)

constexpr int MAX_BATCH = 64;
constexpr int MAX_CHANNELS = 1024;
constexpr int MAX_PLANE = 16384;
constexpr int THREADS = 256;
constexpr int MAX_BLOCKS_PER_PLANE = 16;
constexpr int MAX_GRID_Y = 65535;

__constant__ float2 folded[MAX_CHANNELS];  // x: scale, y: shift

__global__ void normalizeRelu(const float* __restrict__ x, float* __restrict__ y, int planes, int channels,
                              int plane) {
    for (int p = blockIdx.y; p < planes; p += gridDim.y) {
        const float2 map = folded[p % channels];
        const size_t start = static_cast<size_t>(p) * plane;
        for (int i = blockIdx.x * THREADS + threadIdx.x; i < plane; i += gridDim.x * THREADS) {
            y[start + i] = fmaxf(fmaf(x[start + i], map.x, map.y), 0.0f);
        }
    }
}

[[noreturn]] static void die(const std::string& message) {
    fprintf(stderr, "%s\n", message.c_str());
    exit(EXIT_FAILURE);
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes) die(std::string(path) + ": missing, or not as long as the sizes say");
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) die(std::string(path) + ": read error");
    return values;
}

int main() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 3);
    const int batch = sizes[0], channels = sizes[1], plane = sizes[2];
    if (batch < 1 || batch > MAX_BATCH || channels < 1 || channels > MAX_CHANNELS || plane < 1 || plane > MAX_PLANE) {
        die("data/sizes.bin: a size is out of range");
    }
    const int planes = batch * channels;
    std::vector<float> x = load<float>("data/x.bin", static_cast<size_t>(planes) * plane);
    const std::vector<float> mean = load<float>("data/mean.bin", channels);
    const std::vector<float> variance = load<float>("data/variance.bin", channels);
    const std::vector<float> gamma = load<float>("data/gamma.bin", channels);
    const std::vector<float> beta = load<float>("data/beta.bin", channels);

    std::vector<float2> maps(channels);
    for (int c = 0; c < channels; ++c) {
        if (!(variance[c] >= 0.0f)) die("data/variance.bin: a value is negative or not a number");
        const double scale = gamma[c] / std::sqrt(variance[c] + 1e-5);
        maps[c] = make_float2(static_cast<float>(scale), static_cast<float>(beta[c] - mean[c] * scale));
    }
    CUDA_OR_DIE(cudaMemcpyToSymbol(folded, maps.data(), channels * sizeof(float2)));

    const size_t bytes = x.size() * sizeof(float);
    float *dX, *dY;
    CUDA_OR_DIE(cudaMalloc(&dX, bytes));
    CUDA_OR_DIE(cudaMalloc(&dY, bytes));
    CUDA_OR_DIE(cudaMemcpy(dX, x.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 grid(std::min((plane + THREADS - 1) / THREADS, MAX_BLOCKS_PER_PLANE), std::min(planes, MAX_GRID_Y));
    normalizeRelu<<<grid, THREADS>>>(dX, dY, planes, channels, plane);
    CUDA_OR_DIE(cudaGetLastError());
    CUDA_OR_DIE(cudaMemcpy(x.data(), dY, bytes, cudaMemcpyDeviceToHost));
    CUDA_OR_DIE(cudaFree(dX));
    CUDA_OR_DIE(cudaFree(dY));

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(x.data()), bytes);
    out.close();
    if (!out) die("data/y.bin: write error");
    return EXIT_SUCCESS;
}
