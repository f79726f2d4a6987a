#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECKED(call)                                                         \
    do {                                                                      \
        cudaError_t result = (call);                                          \
        if (result != cudaSuccess) {                                          \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result));   \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

template <typename T>
static T* fromFile(const char* path, size_t count) {
    T* shared;
    CHECKED(cudaMallocManaged(&shared, count * sizeof(T)));
    FILE* file = fopen(path, "rb");
    if (!file || fread(shared, sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
    return shared;
}

constexpr int WARPS = 4, PATTERN = 64;

__global__ void matchNames(const uint8_t* __restrict__ text, const uint8_t* __restrict__ globs,
                           uint32_t* __restrict__ matches, int names, int width, int patterns) {
    __shared__ uint8_t chars[32][PATTERN + 4];  // the pitch keeps lanes apart in the banks
    const int words = (patterns + 31) / 32, lane = threadIdx.x;
    const int firstPattern = blockIdx.y * 32, pattern = firstPattern + lane;
    for (int i = threadIdx.y * 32 + lane; i < 32 * PATTERN; i += WARPS * 32) {
        const int p = firstPattern + i / PATTERN;
        chars[i / PATTERN][i % PATTERN] = p < patterns ? globs[static_cast<size_t>(p) * PATTERN + i % PATTERN] : 0;
    }
    __syncthreads();
    int length = 0;
    uint64_t stars = 0, any = 0;
    while (chars[lane][length] != 0) {
        if (chars[lane][length] == '*') stars |= 1ull << length;
        if (chars[lane][length] == '?') any |= 1ull << length;
        ++length;
    }
    for (int name = blockIdx.x * WARPS + threadIdx.y; name < names; name += gridDim.x * WARPS) {
        uint64_t places = 1;  // bit k: the first k characters of the pattern have been matched
        for (int k = 0; k < length; ++k) places |= (places & stars & 1ull << k) << 1;
        for (int i = 0; i < width; ++i) {
            const uint8_t c = text[static_cast<size_t>(name) * width + i];
            if (c == 0) break;
            uint64_t equal = any;
            for (int k = 0; k < length; ++k) equal |= static_cast<uint64_t>(chars[lane][k] == c) << k;
            equal &= ~stars;
            uint64_t next = (places & equal) << 1 | (places & stars);
            for (int k = 0; k < length; ++k) next |= (next & stars & 1ull << k) << 1;
            places = next;
        }
        const bool matched = pattern < patterns && (places >> length & 1);
        const uint32_t word = __ballot_sync(0xffffffffu, matched);
        if (lane == 0) matches[static_cast<size_t>(name) * words + blockIdx.y] = word;
    }
}

int main() {
    int* sizes = fromFile<int>("data/sizes.bin", 3);
    const int names = sizes[0], width = sizes[1], patterns = sizes[2];
    if (names < 1 || names > 200000 || width < 1 || width > 256 || patterns < 1 || patterns > 1024) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    uint8_t* text = fromFile<uint8_t>("data/text.bin", static_cast<size_t>(names) * width);
    uint8_t* globs = fromFile<uint8_t>("data/globs.bin", static_cast<size_t>(patterns) * 64);
    for (int p = 0; p < patterns; ++p) {
        if (globs[64 * p + 63] != 0) return 1;
    }
    const size_t words = static_cast<size_t>(names) * ((patterns + 31) / 32);
    uint32_t* matches;
    CHECKED(cudaMallocManaged(&matches, words * sizeof(uint32_t)));
    const dim3 grid(names < 4096 ? (names + WARPS - 1) / WARPS : 1024, (patterns + 31) / 32);
    matchNames<<<grid, dim3(32, WARPS)>>>(text, globs, matches, names, width, patterns);
    CHECKED(cudaGetLastError());
    CHECKED(cudaDeviceSynchronize());
    FILE* file = fopen("data/matches.bin", "wb");
    if (!file || fwrite(matches, sizeof(uint32_t), words, file) != words || fclose(file) != 0) return 1;
    CHECKED(cudaFree(sizes));
    CHECKED(cudaFree(text));
    CHECKED(cudaFree(globs));
    CHECKED(cudaFree(matches));
    return 0;
}
