#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                       \
    do {                                                                                \
        const cudaError_t e = (call);                                                   \
        if (e != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(e));          \
            std::exit(1);                                                               \
        }                                                                               \
    } while (0)

static void stop(const char* path) {
    std::fprintf(stderr, "%s: wrong contents or length\n", path);
    std::exit(1);
}

template <typename T>
static T* managed(const char* path, size_t count) {
    T* values;
    TRY(cudaMallocManaged(&values, count * sizeof(T)));
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values, sizeof(T), count, file) != count || std::fgetc(file) != EOF) stop(path);
    std::fclose(file);
    return values;
}

__device__ __forceinline__ int64_t unzigzag(uint32_t bits) {
    return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
}

// `width` bits (0 to 32) from bit position `at` of the frame that starts at `frame`.
__device__ __forceinline__ uint32_t cutOut(const uint32_t* frame, int at, int width) {
    if (width == 0) return 0;
    const int word = at / 32, shift = at % 32;
    const uint32_t low = frame[word];
    const uint32_t high = shift + width > 32 ? frame[word + 1] : 0;
    const uint32_t bits = __funnelshift_r(low, high, shift);
    return width == 32 ? bits : bits & ((1u << width) - 1);
}

__global__ void unpack(const uint32_t* packed, const int* offsets, const int64_t* bases, const uint8_t* widths,
                       int64_t* values, int frames) {
    const int frame = blockIdx.x * blockDim.x + threadIdx.x;
    if (frame >= frames) return;
    const int width = widths[frame];
    int64_t value = bases[frame];
    for (int k = 0; k < 32; ++k) {
        value += unzigzag(cutOut(packed + offsets[frame], k * width, width));
        values[static_cast<size_t>(frame) * 32 + k] = value;
    }
}

int main() {
    int* sizes = managed<int>("data/sizes.bin", 2);
    const int frames = sizes[0], words = sizes[1];
    if (frames < 1 || frames > 200000 || words < 1 || words > 4000000) stop("data/sizes.bin");
    uint32_t* packed = managed<uint32_t>("data/packed.bin", words);
    int* offsets = managed<int>("data/offsets.bin", frames + 1);
    int64_t* bases = managed<int64_t>("data/bases.bin", frames);
    uint8_t* widths = managed<uint8_t>("data/widths.bin", frames);
    if (offsets[0] < 0 || offsets[frames] > words) stop("data/offsets.bin");
    for (int f = 0; f < frames; ++f) {
        if (widths[f] > 32 || offsets[f + 1] - offsets[f] != widths[f]) stop("data/widths.bin");
    }
    int64_t* values;
    const size_t count = 32 * static_cast<size_t>(frames);
    TRY(cudaMallocManaged(&values, count * sizeof(int64_t)));
    unpack<<<(frames + 127) / 128, 128>>>(packed, offsets, bases, widths, values, frames);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    std::FILE* file = std::fopen("data/values.bin", "wb");
    if (!file || std::fwrite(values, sizeof(int64_t), count, file) != count) stop("data/values.bin");
    if (std::fclose(file) != 0) stop("data/values.bin");
    for (void* pointer : {(void*)sizes, (void*)packed, (void*)offsets, (void*)bases, (void*)widths, (void*)values}) {
        TRY(cudaFree(pointer));
    }
    return 0;
}
