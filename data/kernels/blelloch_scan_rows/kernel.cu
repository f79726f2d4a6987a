#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kThreads = 512;
constexpr int kPiece = 2 * kThreads;
constexpr int kMaxSize = 16384;

__device__ __forceinline__ int padded(int i) { return i + i / 32; }

__global__ void scanRows(const int32_t* __restrict__ counts, int64_t* __restrict__ starts,
                         int64_t* __restrict__ totals, int cols) {
    __shared__ int64_t tree[kPiece + kPiece / 32];
    __shared__ int64_t pieceSum;
    const int t = threadIdx.x;
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;

    int64_t carry = 0;
    for (int base = 0; base < cols; base += kPiece) {
        const int left = base + t, right = base + t + kThreads;
        tree[padded(t)] = left < cols ? counts[row + left] : 0;
        tree[padded(t + kThreads)] = right < cols ? counts[row + right] : 0;

        for (int d = 1; d < kPiece; d *= 2) {
            __syncthreads();
            if (t < kThreads / d) {
                tree[padded(d * (2 * t + 2) - 1)] += tree[padded(d * (2 * t + 1) - 1)];
            }
        }
        if (t == 0) {  // this thread has just written the root
            pieceSum = tree[padded(kPiece - 1)];
            tree[padded(kPiece - 1)] = 0;
        }
        for (int d = kThreads; d > 0; d /= 2) {
            __syncthreads();
            if (t < kThreads / d) {
                int64_t& a = tree[padded(d * (2 * t + 1) - 1)];
                int64_t& b = tree[padded(d * (2 * t + 2) - 1)];
                const int64_t before = b;
                b += a;
                a = before;
            }
        }
        __syncthreads();

        if (left < cols) starts[row + left] = carry + tree[padded(t)];
        if (right < cols) starts[row + right] = carry + tree[padded(t + kThreads)];
        // No barrier is needed here: a thread's next writes go to the two entries that it alone has just read, and
        // thread 0 writes pieceSum only after the barriers of the next up-sweep.
        carry += pieceSum;
    }
    if (t == 0) totals[blockIdx.x] = carry;
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}

static std::vector<int32_t> readInts(const char* path, size_t count) {
    std::vector<int32_t> values(count);
    const std::streamsize bytes = count * sizeof(int32_t);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: expected %zu integers of 32 bits\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

static void writeSums(const char* path, const std::vector<int64_t>& sums) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(int64_t));
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    const std::vector<int32_t> sizes = readInts("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxSize || cols < 1 || cols > kMaxSize) {
        std::fprintf(stderr, "data/sizes.bin: %d x %d is out of range\n", rows, cols);
        return EXIT_FAILURE;
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    const std::vector<int32_t> counts = readInts("data/counts.bin", count);
    std::vector<int64_t> starts(count), totals(rows);

    cudaStream_t stream;
    int32_t* dCounts = nullptr;
    int64_t *dStarts = nullptr, *dTotals = nullptr;
    check(cudaStreamCreate(&stream), "create a stream");
    check(cudaMallocAsync(&dCounts, count * sizeof(int32_t), stream), "allocate the counts");
    check(cudaMallocAsync(&dStarts, count * sizeof(int64_t), stream), "allocate the starts");
    check(cudaMallocAsync(&dTotals, rows * sizeof(int64_t), stream), "allocate the totals");
    check(cudaMemcpyAsync(dCounts, counts.data(), count * sizeof(int32_t), cudaMemcpyHostToDevice, stream), "upload");

    scanRows<<<rows, kThreads, 0, stream>>>(dCounts, dStarts, dTotals, cols);
    check(cudaGetLastError(), "launch");

    check(cudaMemcpyAsync(starts.data(), dStarts, count * sizeof(int64_t), cudaMemcpyDeviceToHost, stream),
          "download the starts");
    check(cudaMemcpyAsync(totals.data(), dTotals, rows * sizeof(int64_t), cudaMemcpyDeviceToHost, stream),
          "download the totals");
    check(cudaFreeAsync(dCounts, stream), "free the counts");
    check(cudaFreeAsync(dStarts, stream), "free the starts");
    check(cudaFreeAsync(dTotals, stream), "free the totals");
    check(cudaStreamSynchronize(stream), "scan");
    check(cudaStreamDestroy(stream), "destroy the stream");

    writeSums("data/starts.bin", starts);
    writeSums("data/totals.bin", totals);
    return EXIT_SUCCESS;
}
