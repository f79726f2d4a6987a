#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 128;
constexpr int kMaxWidth = 256;
constexpr int kSlots = kMaxWidth / 32;

__global__ void skipGram(const float* __restrict__ centerTable, const float* __restrict__ contextTable,
                         const int* __restrict__ center, const int* __restrict__ context,
                         const int* __restrict__ negative, float* __restrict__ loss, float* __restrict__ centerGrad,
                         int width, int examples, int negatives) {
    const int e = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (e >= examples) return;

    float v[kSlots], grad[kSlots] = {}, other[kSlots];
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
        const int d = lane + 32 * s;
        v[s] = d < width ? centerTable[static_cast<size_t>(center[e]) * width + d] : 0.0f;
    }
    float total = 0.0f;
    for (int k = -1; k < negatives; ++k) {  // -1 is the true context
        const int word = k < 0 ? context[e] : negative[static_cast<size_t>(e) * negatives + k];
        float x = 0.0f;
#pragma unroll
        for (int s = 0; s < kSlots; ++s) {
            const int d = lane + 32 * s;
            other[s] = d < width ? contextTable[static_cast<size_t>(word) * width + d] : 0.0f;
            x = fmaf(v[s], other[s], x);
        }
        for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
        const float t = expf(-fabsf(x));
        const float likely = 1.0f / (1.0f + t), unlikely = t / (1.0f + t);
        const float wrong = k < 0 ? -x : x;  // the loss is softplus of this
        const float slope = wrong >= 0.0f ? likely : unlikely;
        total += fmaxf(wrong, 0.0f) + log1pf(t);
        const float factor = k < 0 ? -slope : slope;
#pragma unroll
        for (int s = 0; s < kSlots; ++s) grad[s] = fmaf(factor, other[s], grad[s]);
    }
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
        const int d = lane + 32 * s;
        if (d < width) centerGrad[static_cast<size_t>(e) * width + d] = grad[s];
    }
    if (lane == 0) loss[e] = total;
}

static void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::FILE* file = std::fopen(path, "rb");
    std::vector<T> values(count);
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) fail(path);
    std::fclose(file);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& values) {
    T* device;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static int* wordsToDevice(const char* path, size_t count, int vocabulary) {
    const auto words = readFile<int32_t>(path, count);
    for (int word : words) {
        if (word < 0 || word >= vocabulary) fail(path);
    }
    return toDevice(words);
}

static void writeFile(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(float), count, file) != count || std::fclose(file)) fail(path);
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 4);
    const int vocabulary = sizes[0], width = sizes[1], examples = sizes[2], negatives = sizes[3];
    if (vocabulary < 1 || vocabulary > 500000 || width < 1 || width > kMaxWidth) fail("data/sizes.bin: tables");
    if (examples < 1 || examples > 1000000 || negatives < 1 || negatives > 64) fail("data/sizes.bin: examples");
    const size_t cells = static_cast<size_t>(vocabulary) * width, drawn = static_cast<size_t>(examples) * negatives;
    float* centerTable = toDevice(readFile<float>("data/center_table.bin", cells));
    float* contextTable = toDevice(readFile<float>("data/context_table.bin", cells));
    int* center = wordsToDevice("data/center.bin", examples, vocabulary);
    int* context = wordsToDevice("data/context.bin", examples, vocabulary);
    int* negative = wordsToDevice("data/negative.bin", drawn, vocabulary);
    float *loss, *centerGrad;
    const size_t gradCells = static_cast<size_t>(examples) * width;
    check(cudaMalloc(&loss, examples * sizeof(float)));
    check(cudaMalloc(&centerGrad, gradCells * sizeof(float)));

    const int perBlock = kThreads / 32;
    skipGram<<<(examples + perBlock - 1) / perBlock, kThreads>>>(centerTable, contextTable, center, context, negative,
                                                                 loss, centerGrad, width, examples, negatives);
    check(cudaGetLastError());
    writeFile("data/loss.bin", loss, examples);
    writeFile("data/center_grad.bin", centerGrad, gradCells);
    for (float* p : {centerTable, contextTable, loss, centerGrad}) check(cudaFree(p));
    for (int* p : {center, context, negative}) check(cudaFree(p));
    return EXIT_SUCCESS;
}
