#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarps = 8;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kEmpty = -1;
constexpr long long kNoScore = -(1LL << 60);  // far below every score, and no difference with one overflows

// Row sums, and their sums over the communities.
__global__ void addStrengths(const int* __restrict__ rowPtr, const int* __restrict__ weights,
                             const int* __restrict__ community, int* strength, int* groupStrength, int vertices) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    int sum = 0;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) sum += weights[e];
    strength[v] = sum;
    atomicAdd(&groupStrength[community[v]], sum);
}

__global__ void bestMoves(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                          const int* __restrict__ weights, const int* __restrict__ community,
                          const int* __restrict__ strength, const int* __restrict__ groupStrength,
                          long long everything, int* keys, int* links, int* __restrict__ target,
                          long long* __restrict__ gain, int vertices) {
    const int lane = threadIdx.x, v = blockIdx.x * kWarps + threadIdx.y;
    if (v >= vertices) return;
    const int begin = rowPtr[v], degree = rowPtr[v + 1] - begin;
    const int own = community[v], slots = 2 * degree;
    int* key = keys + 2 * static_cast<size_t>(begin);
    int* link = links + 2 * static_cast<size_t>(begin);
    for (int e = lane; e < degree; e += 32) {
        const int group = community[neighbors[begin + e]];
        int slot = static_cast<int>(static_cast<unsigned>(group) * 2654435761u % static_cast<unsigned>(slots));
        for (;;) {
            const int before = atomicCAS(&key[slot], kEmpty, group);
            if (before == kEmpty || before == group) break;
            if (++slot == slots) slot = 0;
        }
        atomicAdd(&link[slot], weights[begin + e]);
    }
    __syncwarp();

    const long long mine = strength[v];
    long long best = kNoScore;
    int bestGroup = INT32_MAX, ownLinks = 0;
    for (int s = lane; s < slots; s += 32) {
        const int group = __ldcg(&key[s]);  // what the atomics left in the L2 cache
        if (group == kEmpty) continue;
        const int weight = __ldcg(&link[s]);
        if (group == own) {
            ownLinks = weight;
            continue;
        }
        const long long score = everything * weight - mine * groupStrength[group];
        if (score > best || (score == best && group < bestGroup)) {
            best = score;
            bestGroup = group;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        const long long score = __shfl_xor_sync(kAll, best, d);
        const int group = __shfl_xor_sync(kAll, bestGroup, d);
        if (score > best || (score == best && group < bestGroup)) {
            best = score;
            bestGroup = group;
        }
        ownLinks = max(ownLinks, __shfl_xor_sync(kAll, ownLinks, d));
    }
    if (lane > 0) return;
    const long long stay = everything * ownLinks - mine * (groupStrength[own] - mine);
    target[v] = best > stay ? bestGroup : own;
    gain[v] = best > stay ? best - stay : 0;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<int> readInts(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(int)) throw std::runtime_error(path + ": size");
    std::vector<int> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    return values;
}

int* upload(const std::vector<int>& values) {
    int* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

int* filled(size_t count, int byte) {
    int* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(int)));
    check(cudaMemset(device, byte, count * sizeof(int)));
    return device;
}

template <typename T>
void writeDevice(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], entries = sizes[1];
    if (vertices < 2 || vertices > 300000 || entries < 2 || entries > 2000000) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const auto neighbors = readInts("data/neighbors.bin", entries), weights = readInts("data/weights.bin", entries);
    const auto community = readInts("data/community.bin", vertices);
    bool good = rowPtr[0] == 0 && rowPtr[vertices] == entries;
    for (int v = 0; v < vertices; ++v) {
        good = good && rowPtr[v] <= rowPtr[v + 1] && community[v] >= 0 && community[v] < vertices;
    }
    long long everything = 0;
    for (int e = 0; e < entries; ++e) {
        good = good && neighbors[e] >= 0 && neighbors[e] < vertices && weights[e] >= 1 && weights[e] <= 100;
        everything += weights[e];
    }
    if (!good) throw std::runtime_error("the graph's files are inconsistent");

    const int *dRowPtr = upload(rowPtr), *dNeighbors = upload(neighbors), *dWeights = upload(weights);
    const int* dCommunity = upload(community);
    int *strength = filled(vertices, 0), *groupStrength = filled(vertices, 0);
    int *keys = filled(2 * static_cast<size_t>(entries), 0xFF), *links = filled(2 * static_cast<size_t>(entries), 0);
    int* target = filled(vertices, 0);
    long long* gain = nullptr;
    check(cudaMalloc(&gain, vertices * sizeof(long long)));
    addStrengths<<<(vertices + 255) / 256, 256>>>(dRowPtr, dWeights, dCommunity, strength, groupStrength, vertices);
    check(cudaGetLastError());
    bestMoves<<<(vertices + kWarps - 1) / kWarps, dim3(32, kWarps)>>>(
        dRowPtr, dNeighbors, dWeights, dCommunity, strength, groupStrength, everything, keys, links, target, gain,
        vertices);
    check(cudaGetLastError());
    writeDevice("data/target.bin", target, vertices);
    writeDevice("data/gain.bin", gain, vertices);
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
