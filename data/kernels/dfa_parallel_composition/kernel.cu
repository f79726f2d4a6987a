#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define RUN(call)                                                                                    \
    do {                                                                                             \
        cudaError_t code = (call);                                                                   \
        if (code != cudaSuccess) {                                                                   \
            std::fprintf(stderr, "%s -> %s\n", #call, cudaGetErrorString(code));                     \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)

template <typename T>
static T* deviceCopyOf(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: %zu values expected\n", path, count);
        std::exit(1);
    }
    std::fclose(file);
    T* device;
    RUN(cudaMalloc(&device, count * sizeof(T)));
    RUN(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const void* device, size_t bytes) {
    std::vector<char> values(bytes);
    RUN(cudaMemcpy(values.data(), device, bytes, cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), 1, bytes, file) != bytes || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: not written\n", path);
        std::exit(1);
    }
}

constexpr int THREADS = 256, RUN_BYTES = 16, TILE = THREADS * RUN_BYTES;
constexpr uint32_t IDENTITY = 0x76543210u;  // nibble s holds the image of state s

// First `a`, then `b`.
__device__ __forceinline__ uint32_t compose(uint32_t a, uint32_t b) {
    uint32_t both = 0;
    for (int s = 0; s < 8; ++s) both |= (b >> (4 * (a >> (4 * s) & 7)) & 15) << (4 * s);
    return both;
}

__device__ void loadMaps(const uint8_t* transitions, uint32_t* maps) {
    for (int b = threadIdx.x; b < 256; b += THREADS) {
        uint32_t map = 0;
        for (int s = 0; s < 8; ++s) map |= static_cast<uint32_t>(transitions[8 * b + s]) << (4 * s);
        maps[b] = map;
    }
    __syncthreads();
}

// The composition of all threads up to and including this one; `scratch` holds THREADS words.
__device__ uint32_t scanMaps(uint32_t map, uint32_t* scratch) {
    scratch[threadIdx.x] = map;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        const uint32_t earlier = threadIdx.x >= step ? scratch[threadIdx.x - step] : IDENTITY;
        __syncthreads();
        map = compose(earlier, map);
        scratch[threadIdx.x] = map;
        __syncthreads();
    }
    return map;
}

__device__ uint32_t mapOfRun(const uint8_t* text, const uint32_t* maps, long long first, int n) {
    uint32_t map = IDENTITY;
    for (int k = 0; k < RUN_BYTES && first + k < n; ++k) map = compose(map, maps[text[first + k]]);
    return map;
}

__global__ void mapTiles(const uint8_t* text, const uint8_t* transitions, uint32_t* tiles, int n) {
    __shared__ uint32_t maps[256], scratch[THREADS];
    loadMaps(transitions, maps);
    const long long first = static_cast<long long>(blockIdx.x) * TILE + threadIdx.x * RUN_BYTES;
    const uint32_t map = scanMaps(mapOfRun(text, maps, first, n), scratch);
    if (threadIdx.x == THREADS - 1) tiles[blockIdx.x] = map;
}

// One block: the state before each tile.
__global__ void statesBeforeTiles(uint32_t* tiles, int count) {
    __shared__ uint32_t scratch[THREADS];
    uint32_t carried = IDENTITY;
    for (int base = 0; base < count; base += THREADS) {
        const int i = base + threadIdx.x;
        scanMaps(i < count ? tiles[i] : IDENTITY, scratch);
        const uint32_t before = compose(carried, threadIdx.x == 0 ? IDENTITY : scratch[threadIdx.x - 1]);
        carried = compose(carried, scratch[THREADS - 1]);
        __syncthreads();  // scratch is written again
        if (i < count) tiles[i] = before & 7;
    }
}

__global__ void walk(const uint8_t* text, const uint8_t* transitions, const uint8_t* accepting, const uint32_t* tiles,
                     uint8_t* states, unsigned long long* accepted, int n) {
    __shared__ uint32_t maps[256], scratch[THREADS];
    loadMaps(transitions, maps);
    const long long first = static_cast<long long>(blockIdx.x) * TILE + threadIdx.x * RUN_BYTES;
    scanMaps(mapOfRun(text, maps, first, n), scratch);
    uint32_t state = tiles[blockIdx.x];
    if (threadIdx.x > 0) state = scratch[threadIdx.x - 1] >> (4 * state) & 7;
    int hits = 0;
    for (int k = 0; k < RUN_BYTES && first + k < n; ++k) {
        state = maps[text[first + k]] >> (4 * state) & 7;
        states[first + k] = static_cast<uint8_t>(state);
        hits += accepting[state] != 0;
    }
    hits = __reduce_add_sync(0xffffffffu, hits);
    if (threadIdx.x % 32 == 0 && hits > 0) atomicAdd(accepted, static_cast<unsigned long long>(hits));
}

int main() {
    int n;
    int* dSizes = deviceCopyOf<int>("data/sizes.bin", 1);
    RUN(cudaMemcpy(&n, dSizes, sizeof n, cudaMemcpyDeviceToHost));
    RUN(cudaFree(dSizes));
    if (n < 1 || n > 8000000) {
        std::fprintf(stderr, "data/sizes.bin: bytes = %d\n", n);
        return 1;
    }
    uint8_t* transitions = deviceCopyOf<uint8_t>("data/transitions.bin", 256 * 8);
    uint8_t* accepting = deviceCopyOf<uint8_t>("data/accepting.bin", 8);
    uint8_t* text = deviceCopyOf<uint8_t>("data/text.bin", n);
    const int count = (n + TILE - 1) / TILE;
    uint8_t* states;
    uint32_t* tiles;
    unsigned long long* accepted;
    RUN(cudaMalloc(&states, n));
    RUN(cudaMalloc(&tiles, count * sizeof(uint32_t)));
    RUN(cudaMalloc(&accepted, sizeof *accepted));
    RUN(cudaMemset(accepted, 0, sizeof *accepted));
    mapTiles<<<count, THREADS>>>(text, transitions, tiles, n);
    statesBeforeTiles<<<1, THREADS>>>(tiles, count);
    walk<<<count, THREADS>>>(text, transitions, accepting, tiles, states, accepted, n);
    RUN(cudaGetLastError());
    writeFile("data/states.bin", states, n);
    writeFile("data/accepted.bin", accepted, sizeof *accepted);
    for (void* p : {(void*)transitions, (void*)accepting, (void*)text, (void*)states, (void*)tiles, (void*)accepted}) {
        RUN(cudaFree(p));
    }
    return 0;
}
