#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

typedef unsigned long long Key;
constexpr int kThreads = 256;

// Heavier edges have larger keys, of equal ones the earlier; no key is 0.
__device__ Key keyOf(int weight, int edge) {
    return static_cast<Key>(weight) << 32 | (0xffffffffu - static_cast<uint32_t>(edge));
}

__global__ void propose(const int2* __restrict__ ends, const int* __restrict__ weights, const int* __restrict__ live,
                        int count, Key* best) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const int edge = live[i];
    const Key key = keyOf(weights[edge], edge);
    atomicMax(&best[ends[edge].x], key);
    atomicMax(&best[ends[edge].y], key);
}

__global__ void join(const int2* __restrict__ ends, const int* __restrict__ weights, const int* __restrict__ live,
                     int count, const Key* __restrict__ best, int* mate, Key* total) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const int edge = live[i];
    const int2 e = ends[edge];
    const Key key = keyOf(weights[edge], edge);
    if (best[e.x] != key || best[e.y] != key) return;
    mate[e.x] = e.y;
    mate[e.y] = e.x;
    atomicAdd(total, static_cast<Key>(weights[edge]));
}

// Keeps the edges with two free ends, and forgets the keys of these ends.
__global__ void compact(const int2* __restrict__ ends, const int* __restrict__ live, int count,
                        const int* __restrict__ mate, Key* best, int* rest, int* restCount) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int edge = i < count ? live[i] : 0;
    const int2 e = ends[edge];
    const bool stays = i < count && mate[e.x] < 0 && mate[e.y] < 0;
    const unsigned votes = __ballot_sync(0xffffffffu, stays);
    const int lane = threadIdx.x % 32;
    int base = 0;
    if (lane == 0 && votes) base = atomicAdd(restCount, __popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (!stays) return;
    rest[base + __popc(votes & ((1u << lane) - 1))] = edge;
    best[e.x] = 0;
    best[e.y] = 0;
}

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t error = (call);                                                      \
        if (error != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));       \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

static void die(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(EXIT_FAILURE);
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (file == nullptr) die(path);
    if (fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) die(path);
    fclose(file);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& values) {
    T* device = nullptr;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const void* values, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (file == nullptr || fwrite(values, 1, bytes, file) != bytes || fclose(file) != 0) die(path);
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    if (vertices < 2 || vertices > 500000 || edges < 1 || edges > 2000000) die("data/sizes.bin: out of range");
    const auto ends = readFile<int2>("data/ends.bin", edges);
    const auto weights = readFile<int>("data/weights.bin", edges);
    for (int e = 0; e < edges; ++e) {
        const bool inside = std::min(ends[e].x, ends[e].y) >= 0 && std::max(ends[e].x, ends[e].y) < vertices;
        if (!inside || ends[e].x == ends[e].y) die("data/ends.bin: a bad edge");
        if (weights[e] < 0) die("data/weights.bin: a negative weight");
    }
    std::vector<int> all(edges), mate(vertices, -1);
    std::iota(all.begin(), all.end(), 0);
    const int2* dEnds = toDevice(ends);
    const int* dWeights = toDevice(weights);
    int *live = toDevice(all), *rest = toDevice(all), *dMate = toDevice(mate), *dCount = nullptr;
    Key *best = nullptr, *dTotal = nullptr, total = 0;
    CHECK(cudaMalloc(&dCount, sizeof(int)));
    CHECK(cudaMalloc(&best, vertices * sizeof(Key)));
    CHECK(cudaMalloc(&dTotal, sizeof(Key)));
    CHECK(cudaMemset(best, 0, vertices * sizeof(Key)));
    CHECK(cudaMemset(dTotal, 0, sizeof(Key)));

    for (int count = edges; count > 0;) {
        const int blocks = (count + kThreads - 1) / kThreads;
        CHECK(cudaMemset(dCount, 0, sizeof(int)));
        propose<<<blocks, kThreads>>>(dEnds, dWeights, live, count, best);
        join<<<blocks, kThreads>>>(dEnds, dWeights, live, count, best, dMate, dTotal);
        compact<<<blocks, kThreads>>>(dEnds, live, count, dMate, best, rest, dCount);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&count, dCount, sizeof(int), cudaMemcpyDeviceToHost));
        std::swap(live, rest);
    }
    CHECK(cudaMemcpy(mate.data(), dMate, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&total, dTotal, sizeof(Key), cudaMemcpyDeviceToHost));
    writeFile("data/mate.bin", mate.data(), vertices * sizeof(int));
    writeFile("data/total.bin", &total, sizeof(Key));
    return EXIT_SUCCESS;
}
