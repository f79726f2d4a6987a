#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kBins = 64;
constexpr int kThreads = kBins;  // thread b also sums bin b
constexpr int kWordsPerBin = kThreads / 4;
constexpr int kRound = 255 * kThreads;  // columns until a counter may be full
constexpr int kMaxRows = 16384;
constexpr int kMaxCols = 65536;

__global__ void countRows(const uint8_t* __restrict__ levels, uint32_t* __restrict__ counts, int cols) {
    __shared__ uint32_t words[kBins][kWordsPerBin];
    const int thread = threadIdx.x;
    uint8_t* mine = reinterpret_cast<uint8_t*>(words) + thread;  // counter of bin b: mine[b * kThreads]
    const uint8_t* row = levels + static_cast<size_t>(blockIdx.x) * cols;

    uint32_t total = 0;
    for (int first = 0; first < cols; first += kRound) {
        for (int w = thread; w < kBins * kWordsPerBin; w += kThreads) words[w / kWordsPerBin][w % kWordsPerBin] = 0;
        __syncthreads();

        const int end = min(first + kRound, cols);
        for (int c = first + thread; c < end; c += kThreads) ++mine[row[c] / 4 * kThreads];
        __syncthreads();

        for (int i = 0; i < kWordsPerBin; ++i) {
            // Rotated by thread, since words of the same index lie in two banks only.
            total = __dp4a(words[thread][(thread + i) % kWordsPerBin], 0x01010101u, total);
        }
        __syncthreads();
    }
    counts[static_cast<size_t>(blockIdx.x) * kBins + thread] = total;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

void readFile(const std::string& path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": has the wrong size");
    if (!in.seekg(0).read(static_cast<char*>(target), bytes)) throw std::runtime_error(path + ": cannot be read");
}

void run() {
    int32_t sizes[2];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        throw std::runtime_error("data/sizes.bin: rows or cols is out of range");
    }
    std::vector<uint8_t> levels(static_cast<size_t>(rows) * cols);
    std::vector<uint32_t> counts(static_cast<size_t>(rows) * kBins);
    readFile("data/levels.bin", levels.data(), levels.size());

    uint8_t* dLevels;
    uint32_t* dCounts;
    check(cudaMalloc(&dLevels, levels.size()));
    check(cudaMalloc(&dCounts, counts.size() * sizeof(uint32_t)));
    check(cudaMemcpy(dLevels, levels.data(), levels.size(), cudaMemcpyHostToDevice));
    countRows<<<rows, kThreads>>>(dLevels, dCounts, cols);
    check(cudaGetLastError());
    check(cudaMemcpy(counts.data(), dCounts, counts.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    check(cudaFree(dLevels));
    check(cudaFree(dCounts));

    std::ofstream out("data/counts.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(uint32_t));
    out.close();
    if (!out) throw std::runtime_error("data/counts.bin: cannot be written");
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
