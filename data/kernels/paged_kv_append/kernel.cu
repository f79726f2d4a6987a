#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kPieces = 8;  // uint4 pieces of a vector of 64 halves
constexpr int kThreads = 256;
constexpr int kMaxBlocks = 1024;

struct Copy {
    const uint4* source;
    uint4* cache;
};

__global__ void appendToCache(Copy keys, Copy values, const int* __restrict__ slots, int tokens, int heads,
                              int pageSize) {
    const Copy copy = blockIdx.y == 0 ? keys : values;
    const int count = tokens * heads * kPieces;
    const int step = gridDim.x * kThreads;
    for (int e = blockIdx.x * kThreads + threadIdx.x; e < count; e += step) {
        const int piece = e % kPieces, head = e / kPieces % heads;
        const int slot = slots[e / (kPieces * heads)];
        if (slot < 0) continue;
        const size_t page = slot / pageSize;
        const size_t vector = (page * heads + head) * pageSize + slot % pageSize;
        copy.cache[vector * kPieces + piece] = copy.source[e];
    }
}

static void require(bool condition, const char* complaint) {
    if (!condition) {
        std::fprintf(stderr, "%s\n", complaint);
        std::exit(1);
    }
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != std::ifstream::traits_type::eof()) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, count * sizeof(T));
        std::exit(1);
    }
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(T)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void download(const char* path, const uint4* device, size_t count) {
    std::vector<uint4> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(uint4), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(uint4));
    out.close();
    require(out.good(), path);
}

static void checkSlots(const std::vector<int>& slots, int capacity) {
    std::vector<bool> taken(capacity, false);
    for (const int slot : slots) {
        require(slot >= -1 && slot < capacity, "data/slots.bin: a slot is out of range");
        if (slot < 0) continue;
        require(!taken[slot], "data/slots.bin: a slot is used twice");
        taken[slot] = true;
    }
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 4);
    const int limits[] = {65536, 32, 8192, 256};
    for (int i = 0; i < 4; ++i) require(sizes[i] >= 1 && sizes[i] <= limits[i], "data/sizes.bin: out of range");
    const int tokens = sizes[0], heads = sizes[1], pages = sizes[2], pageSize = sizes[3];
    const size_t newCount = static_cast<size_t>(tokens) * heads * kPieces;
    const size_t cacheCount = static_cast<size_t>(pages) * heads * pageSize * kPieces;

    const std::vector<int> slots = readFile<int>("data/slots.bin", tokens);
    checkSlots(slots, pages * pageSize);
    int* dSlots = upload(slots);
    uint4* newKeys = upload(readFile<uint4>("data/new_keys.bin", newCount));
    uint4* newValues = upload(readFile<uint4>("data/new_values.bin", newCount));
    uint4* keyCache = upload(readFile<uint4>("data/key_cache.bin", cacheCount));
    uint4* valueCache = upload(readFile<uint4>("data/value_cache.bin", cacheCount));

    const int blocks = std::min<int>((newCount + kThreads - 1) / kThreads, kMaxBlocks);
    appendToCache<<<dim3(blocks, 2), kThreads>>>(Copy{newKeys, keyCache}, Copy{newValues, valueCache}, dSlots, tokens,
                                                 heads, pageSize);
    check(cudaGetLastError());
    download("data/updated_keys.bin", keyCache, cacheCount);
    download("data/updated_values.bin", valueCache, cacheCount);
    for (uint4* pointer : {newKeys, newValues, keyCache, valueCache}) check(cudaFree(pointer));
    check(cudaFree(dSlots));
    return 0;
}
