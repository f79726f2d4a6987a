#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxLength = 1 << 24;

__device__ __forceinline__ bool isHead(const int32_t* symbols, int i) {
    return i == 0 || symbols[i] != symbols[i - 1];
}

__global__ void markHeads(const int32_t* __restrict__ symbols, int32_t* __restrict__ flags, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) flags[i] = isHead(symbols, i);
}

__global__ void scatterHeads(const int32_t* __restrict__ symbols, const int32_t* __restrict__ ranks,
                             int32_t* __restrict__ runSymbols, int32_t* __restrict__ starts, int32_t* runCount,
                             int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    if (isHead(symbols, i)) {
        runSymbols[ranks[i] - 1] = symbols[i];
        starts[ranks[i] - 1] = i;
    }
    if (i == n - 1) {
        starts[ranks[i]] = n;
        *runCount = ranks[i];
    }
}

__global__ void measureRuns(const int32_t* __restrict__ starts, const int32_t* __restrict__ runCount,
                            int32_t* __restrict__ runLengths) {
    const int k = blockIdx.x * kThreads + threadIdx.x;
    if (k < *runCount) runLengths[k] = starts[k + 1] - starts[k];
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

class IntBuffer {
public:
    explicit IntBuffer(size_t count) : bytes_(count * sizeof(int32_t)) {
        check(cudaMalloc(&data_, bytes_));
        check(cudaMemset(data_, 0, bytes_));
    }
    IntBuffer(const IntBuffer&) = delete;
    IntBuffer& operator=(const IntBuffer&) = delete;
    ~IntBuffer() { cudaFree(data_); }

    int32_t* get() { return data_; }
    void fill(const std::vector<int32_t>& host) {
        check(cudaMemcpy(data_, host.data(), bytes_, cudaMemcpyHostToDevice));
    }
    void save(const std::string& path) const {
        std::vector<char> host(bytes_);
        check(cudaMemcpy(host.data(), data_, bytes_, cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(host.data(), bytes_);
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

private:
    int32_t* data_ = nullptr;
    size_t bytes_;
};

std::vector<int32_t> readInts(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(int32_t)) {
        throw std::runtime_error(path + ": expected " + std::to_string(count) + " integers");
    }
    std::vector<int32_t> values(count);
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(int32_t))) {
        throw std::runtime_error(path + ": cannot be read");
    }
    return values;
}

// Replaces the flags by their inclusive prefix sums.
void rankInPlace(IntBuffer& flags, int n) {
    void* storage = nullptr;
    size_t bytes = 0;
    check(cub::DeviceScan::InclusiveSum(storage, bytes, flags.get(), flags.get(), n));
    check(cudaMalloc(&storage, bytes));
    const cudaError_t status = cub::DeviceScan::InclusiveSum(storage, bytes, flags.get(), flags.get(), n);
    check(cudaFree(storage));
    check(status);
}

void run() {
    const int n = readInts("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxLength) throw std::runtime_error("data/sizes.bin: n is out of range");
    IntBuffer symbols(n), ranks(n), starts(static_cast<size_t>(n) + 1);
    IntBuffer runSymbols(n), runLengths(n), runCount(1);
    symbols.fill(readInts("data/symbols.bin", n));

    const int blocks = (n + kThreads - 1) / kThreads;
    markHeads<<<blocks, kThreads>>>(symbols.get(), ranks.get(), n);
    check(cudaGetLastError());
    rankInPlace(ranks, n);
    scatterHeads<<<blocks, kThreads>>>(symbols.get(), ranks.get(), runSymbols.get(), starts.get(), runCount.get(), n);
    check(cudaGetLastError());
    measureRuns<<<blocks, kThreads>>>(starts.get(), runCount.get(), runLengths.get());
    check(cudaGetLastError());

    runSymbols.save("data/run_symbols.bin");
    runLengths.save("data/run_lengths.bin");
    runCount.save("data/run_count.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
