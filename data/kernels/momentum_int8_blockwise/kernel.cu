#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kBlock = 256;           // values that share a scale
constexpr int kThreads = kBlock / 4;  // two warps

__device__ float4 momentumOf(char4 q, float scale, float4 g) {
    const float unit = 0.9f * scale / 127.0f;
    return make_float4(fmaf(unit, q.x, g.x), fmaf(unit, q.y, g.y), fmaf(unit, q.z, g.z), fmaf(unit, q.w, g.w));
}

__global__ void momentumStep(float4* weights, const float4* __restrict__ grad, char4* codes, float* scales) {
    __shared__ float warpMax[2];
    const int at = blockIdx.x * kThreads + threadIdx.x;
    const float4 m = momentumOf(codes[at], scales[blockIdx.x], grad[at]);
    float4 w = weights[at];
    w.x -= 0.01f * m.x;
    w.y -= 0.01f * m.y;
    w.z -= 0.01f * m.z;
    w.w -= 0.01f * m.w;
    weights[at] = w;

    float largest = fmaxf(fmaxf(fabsf(m.x), fabsf(m.y)), fmaxf(fabsf(m.z), fabsf(m.w)));
    for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
    if (threadIdx.x % 32 == 0) warpMax[threadIdx.x / 32] = largest;
    __syncthreads();  // also: every thread has read the old scale
    largest = fmaxf(warpMax[0], warpMax[1]);
    const float factor = largest > 0.0f ? 127.0f / largest : 0.0f;
    codes[at] = make_char4(__float2int_rn(m.x * factor), __float2int_rn(m.y * factor), __float2int_rn(m.z * factor),
                           __float2int_rn(m.w * factor));
    if (threadIdx.x == 0) scales[blockIdx.x] = largest;
}

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t result = (call);                                                    \
        if (result != cudaSuccess) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(result));     \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

// Reads exactly `bytes` bytes of a file to the device.
static void* loadToDevice(const char* path, size_t bytes) {
    std::vector<char> host(bytes);
    FILE* file = fopen(path, "rb");
    if (!file || fread(host.data(), 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
    void* device;
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    return device;
}

static void saveFromDevice(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int32_t blocks = 0;
    void* sizes = loadToDevice("data/sizes.bin", sizeof blocks);
    CHECK(cudaMemcpy(&blocks, sizes, sizeof blocks, cudaMemcpyDeviceToHost));
    if (blocks < 1 || blocks > 65535) {
        fprintf(stderr, "data/sizes.bin: %d blocks\n", blocks);
        return 1;
    }
    const size_t count = static_cast<size_t>(blocks) * kBlock;
    void* weights = loadToDevice("data/weights.bin", count * sizeof(float));
    void* grad = loadToDevice("data/grad.bin", count * sizeof(float));
    void* codes = loadToDevice("data/codes.bin", count);
    void* scales = loadToDevice("data/scales.bin", blocks * sizeof(float));
    momentumStep<<<blocks, kThreads>>>(static_cast<float4*>(weights), static_cast<const float4*>(grad),
                                       static_cast<char4*>(codes), static_cast<float*>(scales));
    CHECK(cudaGetLastError());
    saveFromDevice("data/new_weights.bin", weights, count * sizeof(float));
    saveFromDevice("data/new_codes.bin", codes, count);
    saveFromDevice("data/new_scales.bin", scales, blocks * sizeof(float));
    CHECK(cudaFree(sizes));
    CHECK(cudaFree(weights));
    CHECK(cudaFree(grad));
    CHECK(cudaFree(codes));
    CHECK(cudaFree(scales));
    return 0;
}
