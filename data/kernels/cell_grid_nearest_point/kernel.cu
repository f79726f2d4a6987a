#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 8, kQueriesPerBlock = kThreads / kTile;
constexpr unsigned long long kNone = ~0ull;

__global__ void nearest(const int16_t* __restrict__ points, const int* __restrict__ starts,
                        const int16_t* __restrict__ query, int* __restrict__ index, int* __restrict__ square,
                        int queries, int side, int edge) {
    const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
    const int q = blockIdx.x * kQueriesPerBlock + threadIdx.x / kTile;
    const int16_t* position = query + 3 * min(q, queries - 1);
    const int x = position[0], y = position[1], z = position[2];
    const int cx = x / edge, cy = y / edge, cz = z / edge;
    unsigned long long best = kNone;
    for (int nz = max(cz - 1, 0); nz <= min(cz + 1, side - 1); ++nz) {
        for (int ny = max(cy - 1, 0); ny <= min(cy + 1, side - 1); ++ny) {
            const int row = (nz * side + ny) * side;
            const int end = starts[row + min(cx + 1, side - 1) + 1];
            for (int i = starts[row + max(cx - 1, 0)] + tile.thread_rank(); i < end; i += kTile) {
                const int dx = points[3 * i] - x, dy = points[3 * i + 1] - y, dz = points[3 * i + 2] - z;
                const unsigned long long distance = dx * dx + dy * dy + dz * dz;
                best = min(best, distance << 32 | static_cast<unsigned>(i));
            }
        }
    }
    best = cg::reduce(tile, best, cg::less<unsigned long long>());
    if (tile.thread_rank() == 0 && q < queries) {
        index[q] = best == kNone ? -1 : static_cast<int>(best & 0xFFFFFFFFull);
        square[q] = best == kNone ? -1 : static_cast<int>(best >> 32);
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)), "allocate");
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
    return device;
}

static void save(const std::string& path, const int* device, size_t count) {
    std::vector<int> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost), "download");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

static void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 4);
    const int limits[4] = {1 << 20, 1 << 20, 64, 512};
    for (int s = 0; s < 4; ++s) {
        if (sizes[s] < 1 || sizes[s] > limits[s]) throw std::runtime_error("data/sizes.bin: out of range");
    }
    const int n = sizes[0], queries = sizes[1], side = sizes[2], edge = sizes[3];
    if (side * edge > 32767) throw std::runtime_error("data/sizes.bin: the cube is too large");
    const auto points = readFile<int16_t>("data/points.bin", 3 * static_cast<size_t>(n));
    const auto starts = readFile<int>("data/starts.bin", static_cast<size_t>(side) * side * side + 1);
    const auto query = readFile<int16_t>("data/query.bin", 3 * static_cast<size_t>(queries));
    bool valid = starts.front() == 0 && starts.back() == n;
    for (size_t c = 1; c < starts.size(); ++c) valid = valid && starts[c - 1] <= starts[c];
    if (!valid) throw std::runtime_error("data/starts.bin: does not rise from 0 to n");
    for (int c : query) {
        if (c < 0 || c >= side * edge) throw std::runtime_error("data/query.bin: outside the cube");
    }
    int16_t *dPoints = upload(points), *dQuery = upload(query);
    int *dStarts = upload(starts), *dIndex = nullptr, *dSquare = nullptr;
    check(cudaMalloc(&dIndex, queries * sizeof(int)), "allocate");
    check(cudaMalloc(&dSquare, queries * sizeof(int)), "allocate");
    const int blocks = (queries + kQueriesPerBlock - 1) / kQueriesPerBlock;
    nearest<<<blocks, kThreads>>>(dPoints, dStarts, dQuery, dIndex, dSquare, queries, side, edge);
    check(cudaGetLastError(), "launch");
    save("data/index.bin", dIndex, queries);
    save("data/square.bin", dSquare, queries);
    for (void* p : {(void*)dPoints, (void*)dQuery, (void*)dStarts, (void*)dIndex, (void*)dSquare}) cudaFree(p);
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
