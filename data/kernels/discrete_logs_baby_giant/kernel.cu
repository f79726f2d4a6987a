#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kSlots = 4096, kLargest = 4194301;

struct Table {
    unsigned key[kSlots];  // 0: free
    int place[kSlots];
};

__device__ unsigned multiply(unsigned a, unsigned b, unsigned p) { return static_cast<uint64_t>(a) * b % p; }

__device__ unsigned power(unsigned base, unsigned exponent, unsigned p) {
    unsigned result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = multiply(result, base, p);
        base = multiply(base, base, p);
    }
    return result;
}

__device__ unsigned slotOf(unsigned key) { return key * 2654435761u >> 20; }

__device__ void insert(Table& table, unsigned key, int place) {
    for (unsigned slot = slotOf(key);; slot = (slot + 1) % kSlots) {
        const unsigned before = atomicCAS(&table.key[slot], 0u, key);
        if (before == 0 || before == key) {
            atomicMin(&table.place[slot], place);
            return;
        }
    }
}

__device__ int find(const Table& table, unsigned key) {
    for (unsigned slot = slotOf(key); table.key[slot] != 0; slot = (slot + 1) % kSlots) {
        if (table.key[slot] == key) return table.place[slot];
    }
    return -1;
}

__global__ void __launch_bounds__(kThreads)
    discreteLogs(const int* __restrict__ primes, const int* __restrict__ bases, const int* __restrict__ targets,
                 int* __restrict__ exponents) {
    __shared__ Table table;
    __shared__ int smallest;
    const cg::thread_block block = cg::this_thread_block();
    const int rank = block.thread_rank();
    const unsigned p = primes[blockIdx.x], base = bases[blockIdx.x], target = targets[blockIdx.x];
    for (int slot = rank; slot < kSlots; slot += kThreads) {
        table.key[slot] = 0;
        table.place[slot] = INT_MAX;
    }
    if (rank == 0) smallest = INT_MAX;
    block.sync();

    int m = 1;
    while (static_cast<unsigned>(m * m) < p - 1) ++m;  // at most 2048
    const unsigned stride = power(base, kThreads, p);
    unsigned step = power(base, rank, p);
    for (int j = rank; j < m; j += kThreads) {
        insert(table, step, j);
        step = multiply(step, stride, p);
    }
    block.sync();

    const unsigned giant = power(base, p - 1 - m, p), giantStride = power(giant, kThreads, p);
    unsigned wanted = multiply(target, power(giant, rank, p), p);
    for (int i = rank; i < m; i += kThreads) {
        const int j = find(table, wanted);
        if (j >= 0) {
            atomicMin(&smallest, i * m + j);
            break;  // later giant steps of this thread give larger exponents
        }
        wanted = multiply(wanted, giantStride, p);
    }
    block.sync();
    if (rank == 0) exponents[blockIdx.x] = smallest == INT_MAX ? -1 : smallest;
}

static void die(const char* what, const char* detail) {
    std::fprintf(stderr, "%s: %s\n", what, detail);
    std::exit(1);
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) die(what, cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file) die(path, "cannot be opened");
    const bool good = std::fread(values.data(), sizeof(int), count, file) == count && std::fgetc(file) == EOF;
    std::fclose(file);
    if (!good) die(path, "has the wrong length");
    return values;
}

int main() {
    const int problems = readInts("data/sizes.bin", 1)[0];
    if (problems < 1 || problems > 65535) die("data/sizes.bin", "problems is out of range");
    const char* paths[3] = {"data/prime.bin", "data/base.bin", "data/target.bin"};
    std::vector<int> host[3];
    int* device[4];
    const size_t bytes = problems * sizeof(int);
    for (int k = 0; k < 3; ++k) {
        host[k] = readInts(paths[k], problems);
        for (int i = 0; i < problems; ++i) {
            const int number = host[k][i];
            const bool good = k == 0 ? number >= 3 && number <= kLargest && number % 2 == 1
                                     : number >= 1 && number < host[0][i];
            if (!good) die(paths[k], "a number is out of range");
        }
        check(cudaMalloc(&device[k], bytes), paths[k]);
        check(cudaMemcpy(device[k], host[k].data(), bytes, cudaMemcpyHostToDevice), paths[k]);
    }
    check(cudaMalloc(&device[3], bytes), "exponents");
    discreteLogs<<<problems, kThreads>>>(device[0], device[1], device[2], device[3]);
    check(cudaGetLastError(), "launch");
    std::vector<int> exponents(problems);
    check(cudaMemcpy(exponents.data(), device[3], bytes, cudaMemcpyDeviceToHost), "exponents");
    for (int* pointer : device) check(cudaFree(pointer), "cudaFree");

    std::FILE* out = std::fopen("data/exponent.bin", "wb");
    if (!out || std::fwrite(exponents.data(), sizeof(int), problems, out) != exponents.size() || std::fclose(out) != 0)
        die("data/exponent.bin", "cannot be written");
    return 0;
}
