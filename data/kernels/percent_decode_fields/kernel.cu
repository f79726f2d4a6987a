#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
    do {                                                                           \
        cudaError_t s = (call);                                                    \
        if (s != cudaSuccess) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(s));     \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static void writeFile(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) exit(1);
}

__device__ __forceinline__ int digitOf(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    const int letter = c | 32;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// Whether an escape starts at i. Its two digits are no percent signs, so escapes never overlap.
__device__ __forceinline__ bool escapeAt(const uint8_t* text, int i, int length) {
    return i >= 0 && i + 2 < length && text[i] == '%' && digitOf(text[i + 1]) >= 0 && digitOf(text[i + 2]) >= 0;
}

__device__ __forceinline__ uint8_t valueAt(const uint8_t* text, int i, int length) {
    if (escapeAt(text, i, length)) return static_cast<uint8_t>(16 * digitOf(text[i + 1]) + digitOf(text[i + 2]));
    return text[i] == '+' ? ' ' : text[i];
}

constexpr int WARPS = 4;

__global__ void decode(const uint8_t* __restrict__ text, const int* __restrict__ lengths,
                       uint8_t* __restrict__ decoded, int* __restrict__ newLengths, int fields, int width) {
    const int lane = threadIdx.x, field = blockIdx.x * WARPS + threadIdx.y;
    if (field >= fields) return;
    const uint8_t* in = text + static_cast<size_t>(field) * width;
    uint8_t* out = decoded + static_cast<size_t>(field) * width;
    const int length = lengths[field];
    int written = 0;
    for (int first = 0; first < length; first += 32) {
        const int i = first + lane;
        const bool keeps = i < length && !escapeAt(in, i - 1, length) && !escapeAt(in, i - 2, length);
        const unsigned kept = __ballot_sync(0xffffffffu, keeps);
        if (keeps) out[written + __popc(kept & ((1u << lane) - 1))] = valueAt(in, i, length);
        written += __popc(kept);
    }
    for (int i = written + lane; i < width; i += 32) out[i] = 0;
    if (lane == 0) newLengths[field] = written;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int fields = sizes[0], width = sizes[1];
    if (fields < 1 || fields > 65535 || width < 1 || width > 4096) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t bytes = static_cast<size_t>(fields) * width;
    const auto text = readFile<uint8_t>("data/text.bin", bytes);
    const auto lengths = readFile<int>("data/lengths.bin", fields);
    for (int length : lengths) {
        if (length < 0 || length > width) return 1;
    }
    uint8_t *dText, *decoded;
    int *dLengths, *newLengths;
    CHECK(cudaMalloc(&dText, bytes));
    CHECK(cudaMalloc(&decoded, bytes));
    CHECK(cudaMalloc(&dLengths, fields * sizeof(int)));
    CHECK(cudaMalloc(&newLengths, fields * sizeof(int)));
    CHECK(cudaMemcpy(dText, text.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dLengths, lengths.data(), fields * sizeof(int), cudaMemcpyHostToDevice));
    decode<<<(fields + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(dText, dLengths, decoded, newLengths, fields, width);
    CHECK(cudaGetLastError());
    writeFile("data/decoded.bin", decoded, bytes);
    writeFile("data/new_lengths.bin", newLengths, fields);
    CHECK(cudaFree(dText));
    CHECK(cudaFree(dLengths));
    return 0;
}
