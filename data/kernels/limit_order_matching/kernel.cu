#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int LEVELS = 128, WARPS = LEVELS / 32;

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

// The inclusive sum over the block's threads, in the order of threadIdx.x; `sums` holds a value per warp.
__device__ int blockScan(int value, int* sums) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, value, step);
        if (lane >= step) value += other;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; ++w) value += sums[w];
    return value;
}

__global__ void match(const uint8_t* sides, const int* prices, const int* quantities, int* filled, int64_t* notional,
                      int* depth, int orders) {
    __shared__ int resting[2][LEVELS];  // bids, asks
    __shared__ int sums[2][WARPS];      // the parity of the order picks one: the next order must not disturb this one
    __shared__ unsigned long long money;
    const int rank = threadIdx.x;
    resting[0][rank] = resting[1][rank] = 0;
    if (rank == 0) money = 0;
    __syncthreads();
    long long paid = 0;
    for (int k = 0; k < orders; ++k) {
        const size_t at = static_cast<size_t>(blockIdx.x) * orders + k;
        const int side = sides[at], price = prices[at], quantity = quantities[at];
        const int level = side == 0 ? rank : LEVELS - 1 - rank;  // the best level of the other side is rank 0
        const bool reached = side == 0 ? level <= price : level >= price;
        const int offered = reached ? resting[1 - side][level] : 0;
        const int upTo = blockScan(offered, sums[k & 1]);
        const int taken = min(max(quantity - (upTo - offered), 0), offered);
        if (taken > 0) {
            resting[1 - side][level] -= taken;
            paid += static_cast<long long>(taken) * level;
        }
        if (rank == LEVELS - 1) {
            const int total = min(upTo, quantity);
            filled[at] = total;
            resting[side][price] += quantity - total;
        }
        __syncthreads();
    }
    atomicAdd(&money, static_cast<unsigned long long>(paid));
    __syncthreads();
    if (rank == 0) notional[blockIdx.x] = static_cast<int64_t>(money);
    for (int side = 0; side < 2; ++side) {
        depth[(static_cast<size_t>(blockIdx.x) * 2 + side) * LEVELS + rank] = resting[side][rank];
    }
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
    match<<<books, LEVELS>>>(sides, prices, quantities, filled, notional, depth, orders);
    cuda(cudaGetLastError(), "match");
    writeFile("data/filled.bin", filled, count);
    writeFile("data/notional.bin", notional, books);
    writeFile("data/depth.bin", depth, static_cast<size_t>(books) * 2 * LEVELS);
    for (int* pointer : {prices, quantities, filled, depth}) cuda(cudaFree(pointer), "free");
    cuda(cudaFree(sides), "free");
    cuda(cudaFree(notional), "free");
    return 0;
}
