#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using Mask = unsigned long long;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kWarps = 8;

__device__ Mask ballot64(bool low, bool high) {
    const Mask upper = __ballot_sync(kAll, high);
    return upper << 32 | __ballot_sync(kAll, low);
}

__device__ Mask below(int bit) { return bit < 64 ? (1ull << bit) - 1 : ~0ull; }

__device__ int lowest(Mask mask) { return mask ? __ffsll(static_cast<long long>(mask)) - 1 : 64; }

__global__ void compareNames(const uint8_t* first, const uint8_t* second, int pairs, int width, int* matches,
                             float* similarity) {
    __shared__ uint8_t ranked[kWarps][64];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int pair = blockIdx.x * kWarps + warp;
    if (pair >= pairs) return;  // whole warps, and no barrier of the block follows
    const uint8_t* rowA = first + static_cast<size_t>(pair) * width;
    const uint8_t* rowB = second + static_cast<size_t>(pair) * width;
    int a[2], b[2];
    for (int h = 0; h < 2; ++h) {
        const int k = lane + 32 * h;
        a[h] = k < width ? rowA[k] : 0;
        b[h] = k < width ? rowB[k] : 0;
    }
    const int lengthA = lowest(ballot64(a[0] == 0, a[1] == 0));
    const int lengthB = lowest(ballot64(b[0] == 0, b[1] == 0));
    const int window = max(max(lengthA, lengthB) / 2 - 1, 0);

    Mask usedA = 0, usedB = 0;
    for (int i = 0; i < lengthA; ++i) {
        const int letter = __shfl_sync(kAll, i < 32 ? a[0] : a[1], i % 32);
        Mask fits = ballot64(b[0] == letter, b[1] == letter);
        fits &= below(min(i + window + 1, lengthB)) & ~below(max(i - window, 0)) & ~usedB;
        if (fits) {
            usedB |= fits & (~fits + 1);
            usedA |= 1ull << i;
        }
    }
    const int m = __popcll(usedA);
    for (int h = 0; h < 2; ++h) {
        const int k = lane + 32 * h;
        if (usedB >> k & 1) ranked[warp][__popcll(usedB & below(k))] = static_cast<uint8_t>(b[h]);
    }
    __syncwarp();
    bool moved[2];
    for (int h = 0; h < 2; ++h) {
        const int k = lane + 32 * h;
        moved[h] = (usedA >> k & 1) && ranked[warp][__popcll(usedA & below(k))] != a[h];
    }
    const int t = __popcll(ballot64(moved[0], moved[1]));
    const int compared = min(min(lengthA, lengthB), 4);
    const unsigned differ = __ballot_sync(kAll, lane >= compared || a[0] != b[0]);
    const int prefix = __ffs(static_cast<int>(differ)) - 1;
    if (lane == 0) {
        float result = 0.0f;
        if (m > 0) {
            const float count = m;
            const float jaro = (count / lengthA + count / lengthB + (count - 0.5f * t) / count) / 3.0f;
            result = jaro + 0.1f * prefix * (1.0f - jaro);
        }
        matches[pair] = m;
        similarity[pair] = result;
    }
}

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

template <typename T>
static T* managed(size_t count) {
    T* data = nullptr;
    check(cudaMallocManaged(&data, count * sizeof(T)));
    return data;
}

static void readFile(const char* path, void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(data, 1, bytes, file) != bytes || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: not a file of %zu bytes\n", path, bytes);
        std::exit(1);
    }
    std::fclose(file);
}

static void writeFile(const char* path, const void* data, size_t bytes) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(data, 1, bytes, file) != bytes || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(1);
    }
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int pairs = sizes[0], width = sizes[1];
    if (pairs < 1 || pairs > 2000000 || width < 1 || width > 64) {
        std::fprintf(stderr, "data/sizes.bin: pairs %d, width %d\n", pairs, width);
        return 1;
    }
    const size_t bytes = static_cast<size_t>(pairs) * width;
    auto* first = managed<uint8_t>(bytes);
    auto* second = managed<uint8_t>(bytes);
    auto* matches = managed<int>(pairs);
    auto* similarity = managed<float>(pairs);
    readFile("data/first.bin", first, bytes);
    readFile("data/second.bin", second, bytes);
    compareNames<<<(pairs + kWarps - 1) / kWarps, 32 * kWarps>>>(first, second, pairs, width, matches, similarity);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    writeFile("data/matches.bin", matches, pairs * sizeof(int));
    writeFile("data/similarity.bin", similarity, pairs * sizeof(float));
    check(cudaFree(first));
    check(cudaFree(second));
    check(cudaFree(matches));
    check(cudaFree(similarity));
    return 0;
}
