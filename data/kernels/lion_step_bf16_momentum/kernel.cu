#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256;

__device__ void lion(float& w, float g, unsigned short& bits) {
    const float m = __uint_as_float(static_cast<unsigned>(bits) << 16);
    const float blend = 0.875f * m + 0.125f * g;
    const float direction = static_cast<float>((blend > 0.0f) - (blend < 0.0f));
    w -= (direction + 0.125f * w) * (1.0f / 1024);
    bits = __bfloat16_as_ushort(__float2bfloat16_rn((63.0f * m + g) * (1.0f / 64)));
}

__global__ void lionStep(float* weights, const float* __restrict__ grad, unsigned short* momentum, int count) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int quads = count / 4;
    if (i < quads) {
        float4 w = reinterpret_cast<float4*>(weights)[i];
        const float4 g = reinterpret_cast<const float4*>(grad)[i];
        ushort4 m = reinterpret_cast<ushort4*>(momentum)[i];
        lion(w.x, g.x, m.x);
        lion(w.y, g.y, m.y);
        lion(w.z, g.z, m.z);
        lion(w.w, g.w, m.w);
        reinterpret_cast<float4*>(weights)[i] = w;
        reinterpret_cast<ushort4*>(momentum)[i] = m;
    } else if (i == quads) {
        for (int k = 4 * quads; k < count; ++k) lion(weights[k], grad[k], momentum[k]);
    }
}

static void fail(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(what, cudaGetErrorString(status));
}

// A managed array of `count` values with the contents of a file.
template <typename T>
static T* readManaged(const char* path, size_t count) {
    T* values = nullptr;
    check(cudaMallocManaged(&values, count * sizeof(T)), path);
    std::FILE* file = std::fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    if (std::fread(values, sizeof(T), count, file) != count || std::fgetc(file) != EOF) fail(path, "wrong size");
    std::fclose(file);
    return values;
}

template <typename T>
static void writeManaged(const char* path, T* values, size_t count) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values, sizeof(T), count, file) != count) fail(path, "cannot be written");
    if (std::fclose(file) != 0) fail(path, "cannot be closed");
    check(cudaFree(values), path);
}

int main() {
    int32_t* sizes = readManaged<int32_t>("data/sizes.bin", 1);
    const int count = sizes[0];
    if (count < 4 || count > 20000000) fail("data/sizes.bin", "out of range");
    float* weights = readManaged<float>("data/weights.bin", count);
    float* grad = readManaged<float>("data/grad.bin", count);
    unsigned short* momentum = readManaged<unsigned short>("data/momentum.bin", count);

    lionStep<<<(count / 4 + 1 + kThreads - 1) / kThreads, kThreads>>>(weights, grad, momentum, count);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "lionStep");
    writeManaged("data/new_weights.bin", weights, count);
    writeManaged("data/new_momentum.bin", momentum, count);
    check(cudaFree(grad), "grad");
    check(cudaFree(sizes), "sizes");
    return EXIT_SUCCESS;
}
