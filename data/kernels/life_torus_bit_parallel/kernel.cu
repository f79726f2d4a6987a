#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

constexpr int kMaxRows = 16384, kMaxWords = 1024, kMaxSteps = 1000;

// Any function of three bits, for 32 columns at once; the table holds the result for 000, 001, ... 111.
template <int kTable>
__device__ __forceinline__ uint32_t lop3(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(kTable));
    return result;
}

__device__ __forceinline__ uint32_t parity(uint32_t a, uint32_t b, uint32_t c) { return lop3<0x96>(a, b, c); }
__device__ __forceinline__ uint32_t majority(uint32_t a, uint32_t b, uint32_t c) { return lop3<0xE8>(a, b, c); }

struct Triple {
    uint32_t west, centre, east;
};

// For each of the word's 32 columns, the cell itself and the cells beside it.
__device__ __forceinline__ Triple loadTriple(const uint32_t* row, int word, int words) {
    const uint32_t before = row[word == 0 ? words - 1 : word - 1];
    const uint32_t here = row[word];
    const uint32_t after = row[word == words - 1 ? 0 : word + 1];
    return {__funnelshift_l(before, here, 1), here, __funnelshift_r(here, after, 1)};
}

__global__ void generation(const uint32_t* __restrict__ now, uint32_t* __restrict__ next, int rows, int words) {
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || word >= words) return;

    const Triple above = loadTriple(now + (row == 0 ? rows - 1 : row - 1) * words, word, words);
    const Triple middle = loadTriple(now + row * words, word, words);
    const Triple below = loadTriple(now + (row == rows - 1 ? 0 : row + 1) * words, word, words);

    // Bit planes of the number of living neighbours: three partial counts of two bits each, then their sum.
    const uint32_t ones1 = parity(above.west, above.centre, above.east);
    const uint32_t twos1 = majority(above.west, above.centre, above.east);
    const uint32_t ones2 = parity(below.west, below.centre, below.east);
    const uint32_t twos2 = majority(below.west, below.centre, below.east);
    const uint32_t ones3 = middle.west ^ middle.east;
    const uint32_t twos3 = middle.west & middle.east;

    const uint32_t ones = parity(ones1, ones2, ones3);
    const uint32_t carry = majority(ones1, ones2, ones3);
    const uint32_t partial = parity(twos1, twos2, twos3);
    const uint32_t twos = partial ^ carry;
    const uint32_t foursOrMore = majority(twos1, twos2, twos3) | (partial & carry);

    next[row * words + word] = twos & ~foursOrMore & (ones | middle.centre);
}

static void fail(const char* where, const char* what) {
    std::cerr << where << ": " << what << '\n';
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(step, cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path, "missing, or not of the expected length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path, "read error");
}

static void writeBytes(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(source), bytes);
    out.close();
    if (!out) fail(path, "write error");
}

int main() {
    int sizes[3];
    readBytes("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], words = sizes[1], steps = sizes[2];
    if (rows < 1 || rows > kMaxRows || words < 1 || words > kMaxWords || steps < 1 || steps > kMaxSteps) {
        fail("data/sizes.bin", "a size is out of range");
    }
    std::vector<uint32_t> cells(static_cast<size_t>(rows) * words);
    const size_t bytes = cells.size() * sizeof(uint32_t);
    readBytes("data/cells.bin", cells.data(), bytes);

    uint32_t *now, *next;
    check(cudaMalloc(&now, bytes), "cudaMalloc");
    check(cudaMalloc(&next, bytes), "cudaMalloc");
    check(cudaMemcpy(now, cells.data(), bytes, cudaMemcpyHostToDevice), "copy to the device");

    const dim3 block(32, 8);
    const dim3 grid((words + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    for (int step = 0; step < steps; ++step) {
        generation<<<grid, block>>>(now, next, rows, words);
        check(cudaGetLastError(), "launch");
        std::swap(now, next);
    }
    check(cudaMemcpy(cells.data(), now, bytes, cudaMemcpyDeviceToHost), "copy to the host");
    check(cudaFree(now), "cudaFree");
    check(cudaFree(next), "cudaFree");

    writeBytes("data/evolved.bin", cells.data(), bytes);
    return EXIT_SUCCESS;
}
