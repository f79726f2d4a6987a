#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxRows = 1048576, kMaxCols = 4096;
constexpr int kThreads = 256, kWarps = kThreads / 32;

struct Active {
    float sum;
    int count;
};

__device__ float blockMaximum(const cg::thread_block& block, const float* row, int cols) {
    __shared__ float parts[kWarps];
    const auto warp = cg::tiled_partition<32>(block);
    float best = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += kThreads) best = fmaxf(best, row[c]);
    best = cg::reduce(warp, best, cg::greater<float>());
    if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = best;
    block.sync();
    best = parts[0];
    for (int w = 1; w < kWarps; ++w) best = fmaxf(best, parts[w]);
    return best;
}

// Sum and number of the elements of row - maximum that lie above tau; all threads get the same bits.
__device__ Active blockActive(const cg::thread_block& block, const float* row, int cols, float maximum, float tau) {
    __shared__ Active parts[kWarps];
    const auto warp = cg::tiled_partition<32>(block);
    Active active{0.0f, 0};
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float z = row[c] - maximum;
        if (z > tau) {
            active.sum += z;
            ++active.count;
        }
    }
    active.sum = cg::reduce(warp, active.sum, cg::plus<float>());
    active.count = cg::reduce(warp, active.count, cg::plus<int>());
    block.sync();  // the previous round has been read
    if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = active;
    block.sync();
    active = parts[0];
    for (int w = 1; w < kWarps; ++w) {
        active.sum += parts[w].sum;
        active.count += parts[w].count;
    }
    return active;
}

__global__ void sparsemaxRows(const float* __restrict__ scores, int rows, int cols, float* __restrict__ weights,
                              float* __restrict__ thresholds) {
    extern __shared__ float buffers[];  // two rows
    const cg::thread_block block = cg::this_thread_block();
    const size_t bytes = cols * sizeof(float);
    const int stride = gridDim.x;

    cg::memcpy_async(block, buffers, scores + static_cast<size_t>(blockIdx.x) * cols, bytes);
    int now = 0;
    for (int r = blockIdx.x; r < rows; r += stride, now = 1 - now) {
        if (r + stride < rows) {
            const float* next = scores + static_cast<size_t>(r + stride) * cols;
            cg::memcpy_async(block, buffers + (1 - now) * cols, next, bytes);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }

        const float* row = buffers + now * cols;
        const float maximum = blockMaximum(block, row, cols);
        float tau = -1.0f;
        int before = cols + 1;
        while (true) {
            const Active active = blockActive(block, row, cols, maximum, tau);
            if (active.count >= before) break;
            before = active.count;
            tau = (active.sum - 1.0f) / active.count;
        }

        float* out = weights + static_cast<size_t>(r) * cols;
        for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = fmaxf(row[c] - maximum - tau, 0.0f);
        if (threadIdx.x == 0) thresholds[r] = maximum + tau;
        block.sync();  // the next round fills this buffer
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct DeviceFloats {
    explicit DeviceFloats(size_t n) : count(n) { check(cudaMalloc(&data, count * sizeof(float))); }
    DeviceFloats(const DeviceFloats&) = delete;
    DeviceFloats& operator=(const DeviceFloats&) = delete;
    ~DeviceFloats() { cudaFree(data); }

    void save(const std::string& path) const {
        std::vector<float> host(count);
        check(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }

    float* data = nullptr;
    size_t count;
};

static void readFile(const std::string& path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(static_cast<char*>(target), bytes)) throw std::runtime_error(path + ": cannot be read");
}

static void run() {
    int32_t sizes[2];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        throw std::runtime_error("data/sizes.bin: rows or cols out of range");
    }
    std::vector<float> host(static_cast<size_t>(rows) * cols);
    readFile("data/scores.bin", host.data(), host.size() * sizeof(float));
    DeviceFloats scores(host.size()), weights(host.size()), thresholds(rows);
    check(cudaMemcpy(scores.data, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));

    const size_t sharedBytes = 2 * cols * sizeof(float);
    int device, multiprocessors, perMultiprocessor;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, sparsemaxRows, kThreads, sharedBytes));
    const int blocks = std::min(rows, multiprocessors * perMultiprocessor);
    sparsemaxRows<<<blocks, kThreads, sharedBytes>>>(scores.data, rows, cols, weights.data, thresholds.data);
    check(cudaGetLastError());

    weights.save("data/weights.bin");
    thresholds.save("data/thresholds.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
