#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Prime {
    uint32_t value, inverse, limit;  // n is a multiple if n * inverse <= limit
};

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    factorise(const Prime* __restrict__ table, int tableSize, uint32_t start, int count,
              uint32_t* __restrict__ totient, uint8_t* __restrict__ primes) {
    __shared__ Prime tile[kThreads];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    bool done = i >= count;
    uint32_t rest = done ? 1 : start + i, phi = 1;
    int distinct = 0;
    if (rest % 2 == 0) {
        const int twos = __ffs(static_cast<int>(rest)) - 1;
        rest >>= twos;
        phi = 1u << (twos - 1);
        distinct = 1;
    }
    for (int first = 0; first < tableSize; first += kThreads) {
        if (__syncthreads_and(done)) break;  // the barrier also protects the tile in use
        const int loaded = min(kThreads, tableSize - first);
        if (threadIdx.x < loaded) tile[threadIdx.x] = table[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < loaded && !done; ++k) {
            const Prime p = tile[k];
            if (p.value * p.value > rest) {
                done = true;
                break;
            }
            uint32_t quotient = rest * p.inverse;
            if (quotient > p.limit) continue;
            rest = quotient;
            phi *= p.value - 1;
            ++distinct;
            while ((quotient = rest * p.inverse) <= p.limit) {
                rest = quotient;
                phi *= p.value;
            }
        }
    }
    if (i >= count) return;
    if (rest > 1) {
        phi *= rest - 1;
        ++distinct;
    }
    totient[i] = phi;
    primes[i] = static_cast<uint8_t>(distinct);
}

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

static std::vector<Prime> oddPrimes() {
    std::vector<bool> composite(65536, false);
    std::vector<Prime> table;
    for (uint32_t p = 3; p < 65536; p += 2) {
        if (composite[p]) continue;
        for (uint64_t q = uint64_t(p) * p; q < 65536; q += 2 * p) composite[q] = true;
        uint32_t inverse = p;  // right in the lowest three bits; each round doubles their number
        for (int round = 0; round < 4; ++round) inverse *= 2 - p * inverse;
        table.push_back({p, inverse, 0xffffffffu / p});
    }
    return table;
}

static uint32_t readNumber(const char* path) {
    uint32_t value = 0;
    FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(&value, sizeof value, 1, file) != 1 || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected one number of 32 bits\n", path);
        std::exit(1);
    }
    std::fclose(file);
    return value;
}

template <typename T>
static void writeResult(const char* path, const T* device, int count) {
    std::vector<T> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), path);
    FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(host.data(), sizeof(T), count, file) != host.size() || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(1);
    }
}

int main() {
    const uint32_t size = readNumber("data/sizes.bin"), start = readNumber("data/start.bin");
    if (size < 1 || size > 8388608 || start < 1 || uint64_t(start) + size - 1 > 0xffffffffu) {
        std::fprintf(stderr, "%u numbers from %u on are not within the limits\n", size, start);
        return 1;
    }
    const int count = static_cast<int>(size);
    const std::vector<Prime> table = oddPrimes();
    Prime* dTable;
    uint32_t* totient;
    uint8_t* primes;
    check(cudaMalloc(&dTable, table.size() * sizeof(Prime)), "cudaMalloc");
    check(cudaMalloc(&totient, count * sizeof(uint32_t)), "cudaMalloc");
    check(cudaMalloc(&primes, count), "cudaMalloc");
    check(cudaMemcpy(dTable, table.data(), table.size() * sizeof(Prime), cudaMemcpyHostToDevice), "table");
    const int blocks = (count + kThreads - 1) / kThreads;
    factorise<<<blocks, kThreads>>>(dTable, static_cast<int>(table.size()), start, count, totient, primes);
    check(cudaGetLastError(), "factorise");
    writeResult("data/totient.bin", totient, count);
    writeResult("data/primes.bin", primes, count);
    check(cudaFree(dTable), "cudaFree");
    check(cudaFree(totient), "cudaFree");
    check(cudaFree(primes), "cudaFree");
    return 0;
}
