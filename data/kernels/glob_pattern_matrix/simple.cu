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

// Remembers the last star and goes back to it, with one more byte for the star, where a match breaks off.
__device__ bool isMatch(const uint8_t* name, int width, const uint8_t* glob) {
    int i = 0, k = 0, star = -1, resume = 0;
    while (i < width && name[i] != 0) {
        if (glob[k] == '*') {
            star = k++;
            resume = i;
        } else if (glob[k] != 0 && (glob[k] == '?' || glob[k] == name[i])) {
            ++i;
            ++k;
        } else if (star >= 0) {
            k = star + 1;
            i = ++resume;
        } else {
            return false;
        }
    }
    while (glob[k] == '*') ++k;
    return glob[k] == 0;
}

// One thread makes one word of 32 answers.
__global__ void matchNames(const uint8_t* text, const uint8_t* globs, uint32_t* matches, int names, int width,
                           int patterns) {
    const int words = (patterns + 31) / 32;
    const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<long long>(names) * words) return;
    const uint8_t* name = text + at / words * width;
    uint32_t word = 0;
    for (int bit = 0; bit < 32; ++bit) {
        const int p = static_cast<int>(at % words) * 32 + bit;
        if (p < patterns && isMatch(name, width, globs + 64 * p)) word |= 1u << bit;
    }
    matches[at] = word;
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
    const int blocks = static_cast<int>((words + 127) / 128);
    matchNames<<<blocks, 128>>>(text, globs, matches, names, width, patterns);
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
