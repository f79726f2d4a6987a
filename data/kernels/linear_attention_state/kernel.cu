#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_HEADS = 256, MAX_LENGTH = 4096;
constexpr int DIM = 64;
constexpr int PARTS = 4;           // threads that share a column of the state
constexpr int ROWS = DIM / PARTS;  // rows of the state per thread
constexpr int THREADS = DIM * PARTS;
constexpr int CHUNK = 16;          // positions per stage

__device__ float feature(float x) { return x > 0.0f ? x + 1.0f : expf(x); }

__global__ void linearAttention(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                                float* __restrict__ out, int length) {
    __shared__ float featuresQ[CHUNK][DIM], featuresK[CHUNK][DIM], values[CHUNK][DIM];
    __shared__ float numerators[CHUNK][PARTS][DIM];
    __shared__ float denominators[CHUNK][PARTS];
    const int d = threadIdx.x % DIM, part = threadIdx.x / DIM;
    const size_t head = static_cast<size_t>(blockIdx.x) * length * DIM;

    float state[ROWS] = {}, norm[ROWS] = {};
    for (int begin = 0; begin < length; begin += CHUNK) {
        const int count = min(CHUNK, length - begin);
        const size_t base = head + static_cast<size_t>(begin) * DIM;
        for (int p = part; p < count; p += PARTS) {
            featuresQ[p][d] = feature(q[base + p * DIM + d]);
            featuresK[p][d] = feature(k[base + p * DIM + d]);
            values[p][d] = v[base + p * DIM + d];
        }
        __syncthreads();

        for (int p = 0; p < count; ++p) {
            const float value = values[p][d];
            float numerator = 0.0f, denominator = 0.0f;
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const float key = featuresK[p][part * ROWS + r], query = featuresQ[p][part * ROWS + r];
                state[r] += key * value;
                norm[r] += key;
                numerator += query * state[r];
                denominator += query * norm[r];
            }
            numerators[p][part][d] = numerator;
            if (d == 0) denominators[p][part] = denominator;
        }
        __syncthreads();

        // The next chunk overwrites the inputs, which nobody reads any more, before its first barrier, and the
        // partial sums only after it.
        for (int p = part; p < count; p += PARTS) {
            float numerator = 0.0f, denominator = 0.0f;
            for (int s = 0; s < PARTS; ++s) {
                numerator += numerators[p][s][d];
                denominator += denominators[p][s];
            }
            out[base + p * DIM + d] = numerator / denominator;
        }
    }
}

#define EXPECT(condition, ...)            \
    do {                                  \
        if (!(condition)) {               \
            fprintf(stderr, __VA_ARGS__); \
            exit(EXIT_FAILURE);           \
        }                                 \
    } while (0)

static void check(cudaError_t status) { EXPECT(status == cudaSuccess, "CUDA: %s\n", cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    EXPECT(file, "%s: cannot be opened\n", path);
    const bool exact = fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    EXPECT(exact, "%s: expected exactly %zu values\n", path, count);
    return values;
}

static float* load(const char* path, size_t count) {
    const std::vector<float> host = readFile<float>(path, count);
    float* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(float)));
    check(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int heads = sizes[0], length = sizes[1];
    EXPECT(heads >= 1 && heads <= MAX_HEADS, "heads = %d is not in 1..%d\n", heads, MAX_HEADS);
    EXPECT(length >= 1 && length <= MAX_LENGTH, "length = %d is not in 1..%d\n", length, MAX_LENGTH);

    const size_t count = static_cast<size_t>(heads) * length * DIM;
    float* q = load("data/q.bin", count);
    float* k = load("data/k.bin", count);
    float* v = load("data/v.bin", count);
    float* out = nullptr;
    check(cudaMalloc(&out, count * sizeof(float)));
    linearAttention<<<heads, THREADS>>>(q, k, v, out, length);
    check(cudaGetLastError());

    std::vector<float> result(count);
    check(cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* pointer : {q, k, v, out}) check(cudaFree(pointer));

    FILE* file = fopen("data/out.bin", "wb");
    EXPECT(file, "data/out.bin: cannot be created\n");
    const bool complete = fwrite(result.data(), sizeof(float), count, file) == count;
    EXPECT(fclose(file) == 0 && complete, "data/out.bin: cannot be written\n");
    return EXIT_SUCCESS;
}
