#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int LEVELS = 128;

constexpr int MAX_BOOKS = 65535, MAX_ORDERS = 4096;

static void die(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(1);
}

static void cuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) die(what, cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file) die(path, "cannot be opened");
    const size_t got = std::fread(values.data(), sizeof(T), count, file);
    if (got != count || std::fgetc(file) != EOF) die(path, "has the wrong length");
    std::fclose(file);
    return values;
}

template <typename T>
static T* toDevice(const std::vector<T>& values, const char* what) {
    T* device;
    cuda(cudaMalloc(&device, values.size() * sizeof(T)), what);
    cuda(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), what);
    return device;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    cuda(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), path);
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), count, file) != count) die(path, "cannot be written");
    if (std::fclose(file) != 0) die(path, "cannot be closed");
}

// One thread works through one book; its levels live in the output.
__global__ void match(const uint8_t* sides, const int* prices, const int* quantities, int* filled, int64_t* notional,
                      int* depth, int books, int orders) {
    const int book = blockIdx.x * blockDim.x + threadIdx.x;
    if (book >= books) return;
    int* resting = depth + static_cast<size_t>(book) * 2 * LEVELS;
    for (int i = 0; i < 2 * LEVELS; ++i) resting[i] = 0;
    int64_t money = 0;
    for (int k = 0; k < orders; ++k) {
        const size_t at = static_cast<size_t>(book) * orders + k;
        const int side = sides[at], price = prices[at], step = side == 0 ? 1 : -1;
        int* other = resting + (1 - side) * LEVELS;
        int left = quantities[at];
        for (int level = side == 0 ? 0 : LEVELS - 1; left > 0; level += step) {
            if (side == 0 ? level > price : level < price) break;
            const int taken = min(left, other[level]);
            other[level] -= taken;
            left -= taken;
            money += static_cast<int64_t>(taken) * level;
        }
        filled[at] = quantities[at] - left;
        resting[side * LEVELS + price] += left;
    }
    notional[book] = money;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int books = sizes[0], orders = sizes[1];
    if (books < 1 || books > MAX_BOOKS || orders < 1 || orders > MAX_ORDERS) die("data/sizes.bin", "out of range");
    const size_t count = static_cast<size_t>(books) * orders;
    uint8_t* sides = toDevice(readFile<uint8_t>("data/sides.bin", count), "sides");
    int* prices = toDevice(readFile<int>("data/prices.bin", count), "prices");
    int* quantities = toDevice(readFile<int>("data/quantities.bin", count), "quantities");
    int *filled, *depth;
    int64_t* notional;
    cuda(cudaMalloc(&filled, count * sizeof(int)), "filled");
    cuda(cudaMalloc(&depth, static_cast<size_t>(books) * 2 * LEVELS * sizeof(int)), "depth");
    cuda(cudaMalloc(&notional, books * sizeof(int64_t)), "notional");
    match<<<(books + 31) / 32, 32>>>(sides, prices, quantities, filled, notional, depth, books, orders);
    cuda(cudaGetLastError(), "match");
    writeFile("data/filled.bin", filled, count);
    writeFile("data/notional.bin", notional, books);
    writeFile("data/depth.bin", depth, static_cast<size_t>(books) * 2 * LEVELS);
    for (int* pointer : {prices, quantities, filled, depth}) cuda(cudaFree(pointer), "free");
    cuda(cudaFree(sides), "free");
    cuda(cudaFree(notional), "free");
    return 0;
}
