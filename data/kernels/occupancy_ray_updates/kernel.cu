#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

typedef unsigned long long Counts;  // hits in the upper half, misses in the lower one
constexpr int kThreads = 256;
constexpr Counts kHit = 1ULL << 32;

struct Grid {
    int nx, ny, nz;
    __host__ __device__ size_t cells() const { return static_cast<size_t>(nx) * ny * nz; }
    __host__ __device__ bool contains(int3 c) const {
        return c.x >= 0 && c.x < nx && c.y >= 0 && c.y < ny && c.z >= 0 && c.z < nz;
    }
};

// floor(k * delta / n + 1/2) for n > 0
__device__ int along(int k, int delta, int n) {
    const int above = 2 * k * delta + n;
    return above >= 0 ? above / (2 * n) : -((2 * n - 1 - above) / (2 * n));
}

__global__ void traceRays(const int3* __restrict__ starts, const int3* __restrict__ ends,
                          const uint8_t* __restrict__ returned, Counts* counts, int rays, Grid grid) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * (kThreads / 32);
    for (int r = blockIdx.x * (kThreads / 32) + threadIdx.x / 32; r < rays; r += warps) {
        const int3 a = starts[r], b = ends[r];
        const int dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
        const int n = max(abs(dx), max(abs(dy), abs(dz)));
        for (int k = lane; k <= n; k += 32) {
            int3 c = b;
            if (k < n) c = make_int3(a.x + along(k, dx, n), a.y + along(k, dy, n), a.z + along(k, dz, n));
            const size_t cell = (static_cast<size_t>(c.z) * grid.ny + c.y) * grid.nx + c.x;
            atomicAdd(&counts[cell], k == n && returned[r] ? kHit : Counts(1));
        }
    }
}

__global__ void updateCells(const Counts* __restrict__ counts, int16_t* belief, size_t cells, int gain, int loss,
                            int limit, int* seen) {
    int touched = 0, occupied = 0;
    const size_t stride = static_cast<size_t>(gridDim.x) * kThreads;
    for (size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x; i < cells; i += stride) {
        const long long hits = counts[i] >> 32, misses = counts[i] & 0xFFFFFFFFu;
        long long value = belief[i] + gain * hits - loss * misses;
        if (value > limit) value = limit;
        if (value < -limit) value = -limit;
        belief[i] = static_cast<int16_t>(value);
        touched += hits + misses > 0;
        occupied += hits > 0;
    }
    touched = __reduce_add_sync(0xFFFFFFFFu, touched);
    occupied = __reduce_add_sync(0xFFFFFFFFu, occupied);
    if (threadIdx.x % 32 == 0) {
        if (touched) atomicAdd(&seen[0], touched);
        if (occupied) atomicAdd(&seen[1], occupied);
    }
}

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + ": cannot be opened");
    std::vector<T> values(count);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file || file.peek() != std::ifstream::traits_type::eof()) throw std::runtime_error(path + ": wrong length");
    return values;
}

template <typename T>
T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return device;
}

template <typename T>
void download(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), path.c_str());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
}

std::vector<int3> readCells(const std::string& path, int rays, const Grid& grid) {
    auto cells = read<int3>(path, rays);
    for (const int3& cell : cells) {
        if (!grid.contains(cell)) throw std::runtime_error(path + ": a cell outside the grid");
    }
    return cells;
}

void run() {
    const auto sizes = read<int32_t>("data/sizes.bin", 4);
    const int rays = sizes[0];
    const Grid grid{sizes[1], sizes[2], sizes[3]};
    const int largest = std::max({grid.nx, grid.ny, grid.nz}), smallest = std::min({grid.nx, grid.ny, grid.nz});
    if (rays < 1 || rays > 1000000 || smallest < 1 || largest > 512) throw std::runtime_error("data/sizes.bin: range");
    const auto rule = read<int32_t>("data/rule.bin", 3);
    for (int value : rule) {
        if (value < 1 || value > 30000) throw std::runtime_error("data/rule.bin: out of range");
    }
    const size_t cells = grid.cells();
    int3* starts = upload(readCells("data/starts.bin", rays, grid));
    int3* ends = upload(readCells("data/ends.bin", rays, grid));
    uint8_t* returned = upload(read<uint8_t>("data/returned.bin", rays));
    int16_t* belief = upload(read<int16_t>("data/belief.bin", cells));
    int* seen = upload(std::vector<int>{0, 0});
    Counts* counts = nullptr;
    check(cudaMalloc(&counts, cells * sizeof(Counts)), "cudaMalloc");
    check(cudaMemset(counts, 0, cells * sizeof(Counts)), "cudaMemset");

    const int rayBlocks = std::min(4096, (rays + kThreads / 32 - 1) / (kThreads / 32));
    traceRays<<<rayBlocks, kThreads>>>(starts, ends, returned, counts, rays, grid);
    check(cudaGetLastError(), "traceRays");
    const int cellBlocks = static_cast<int>(std::min<size_t>(2048, (cells + kThreads - 1) / kThreads));
    updateCells<<<cellBlocks, kThreads>>>(counts, belief, cells, rule[0], rule[1], rule[2], seen);
    check(cudaGetLastError(), "updateCells");
    download("data/new_belief.bin", belief, cells);
    download("data/seen.bin", seen, 2);
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
