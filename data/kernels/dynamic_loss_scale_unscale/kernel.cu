#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;
constexpr int kStreakToGrow = 2000;

__device__ bool overflows(unsigned word) {
    return (word & 0x7c00u) == 0x7c00u || (word & 0x7c000000u) == 0x7c000000u;
}

__global__ void findOverflow(const uint16_t* __restrict__ bits, int count, int* flag) {
    const unsigned* words = reinterpret_cast<const unsigned*>(bits);
    const int first = blockIdx.x * kThreads + threadIdx.x;
    bool found = first == 0 && count % 2 == 1 && overflows(bits[count - 1]);
    for (int i = first; i < count / 2; i += gridDim.x * kThreads) found |= overflows(words[i]);
    if (__syncthreads_or(found) && threadIdx.x == 0) *flag = 1;
}

__global__ void unscale(const uint16_t* __restrict__ bits, int count, const int* __restrict__ flag, float scale,
                        int streak, float* __restrict__ unscaled, float* state) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const bool skip = *flag != 0;
    if (i < count) unscaled[i] = skip ? 0.0f : __half2float(__ushort_as_half(bits[i])) * (1.0f / scale);
    if (i == 0) {
        const bool grow = !skip && streak + 1 == kStreakToGrow;
        state[0] = skip;
        state[1] = skip ? 0.5f * scale : grow ? 2.0f * scale : scale;
        state[2] = skip || grow ? 0 : streak + 1;
    }
}

#define CHECK(call)                                                                          \
    do {                                                                                     \
        const cudaError_t error = (call);                                                    \
        if (error != cudaSuccess) {                                                          \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));      \
            std::exit(EXIT_FAILURE);                                                         \
        }                                                                                    \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    std::fclose(file);
    return values;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), count, file) != count || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    const int count = readFile<int32_t>("data/sizes.bin", 1)[0];
    if (count < 2 || count > 16000000) {
        std::fprintf(stderr, "data/sizes.bin: %d is out of range\n", count);
        return EXIT_FAILURE;
    }
    const auto gradBits = readFile<uint16_t>("data/grad_bits.bin", count);
    const float scale = readFile<float>("data/scale.bin", 1)[0];
    const int streak = readFile<int32_t>("data/streak.bin", 1)[0];
    if (!(scale >= 1.0f && scale <= 65536.0f) || streak < 0 || streak >= kStreakToGrow) {
        std::fprintf(stderr, "scale or streak is out of range\n");
        return EXIT_FAILURE;
    }

    uint16_t* dBits;
    float *dUnscaled, *dState;
    int* dFlag;
    CHECK(cudaMalloc(&dBits, count * sizeof(uint16_t)));
    CHECK(cudaMalloc(&dUnscaled, count * sizeof(float)));
    CHECK(cudaMalloc(&dState, 3 * sizeof(float)));
    CHECK(cudaMalloc(&dFlag, sizeof(int)));
    CHECK(cudaMemcpy(dBits, gradBits.data(), count * sizeof(uint16_t), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dFlag, 0, sizeof(int)));

    const int blocks = (count + kThreads - 1) / kThreads;
    findOverflow<<<std::min(blocks, 1024), kThreads>>>(dBits, count, dFlag);
    CHECK(cudaGetLastError());
    unscale<<<blocks, kThreads>>>(dBits, count, dFlag, scale, streak, dUnscaled, dState);
    CHECK(cudaGetLastError());
    writeFile("data/unscaled.bin", dUnscaled, count);
    writeFile("data/state.bin", dState, 3);
    CHECK(cudaFree(dBits));
    CHECK(cudaFree(dUnscaled));
    CHECK(cudaFree(dState));
    CHECK(cudaFree(dFlag));
    return EXIT_SUCCESS;
}
