#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                         \
    do {                                                                                  \
        cudaError_t status_ = (call);                                                     \
        if (status_ != cudaSuccess) {                                                     \
            fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(status_));           \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

template <typename T>
static void readFile(const char* path, std::vector<T>& values) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), values.size(), file) != values.size() || fgetc(file) != EOF) {
        fprintf(stderr, "%s: not %zu values\n", path, values.size());
        exit(1);
    }
    fclose(file);
}

__device__ __forceinline__ uint64_t squaredDistance(const uint16_t* a, const uint16_t* b) {
    uint64_t sum = 0;
    for (int k = 0; k < 3; ++k) {
        const int64_t d = static_cast<int16_t>(a[k] - b[k]);  // the nearest image
        sum += static_cast<uint64_t>(d * d);
    }
    return sum;
}

// The bin of a squared distance: edges[bin] <= square < edges[bin + 1]; -1 or `bins` outside.
__device__ __forceinline__ int findBin(const uint64_t* edges, int bins, uint64_t square) {
    int low = 0, high = bins + 1;  // the first edge above square
    while (low < high) {
        const int middle = (low + high) / 2;
        if (edges[middle] > square) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low - 1;
}

constexpr int THREADS = 128, MAX_BINS = 2048;

// Block (x, y) compares the x-th tile of particles with the y-th, y >= x.
__global__ void countPairs(const uint16_t* __restrict__ positions, const uint64_t* __restrict__ edges,
                           unsigned long long* counts, int particles, int bins) {
    __shared__ uint16_t tile[3 * THREADS];
    __shared__ uint64_t bounds[MAX_BINS + 1];
    __shared__ unsigned histogram[MAX_BINS];
    if (blockIdx.y < blockIdx.x) return;
    const int first = blockIdx.y * THREADS, i = blockIdx.x * THREADS + threadIdx.x;
    for (int b = threadIdx.x; b <= bins; b += THREADS) bounds[b] = edges[b];
    for (int b = threadIdx.x; b < bins; b += THREADS) histogram[b] = 0;
    const int others = min(THREADS, particles - first);
    for (int k = threadIdx.x; k < 3 * others; k += THREADS) tile[k] = positions[3 * first + k];
    __syncthreads();
    if (i < particles) {
        const uint16_t mine[3] = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]};
        for (int k = 0; k < others; ++k) {
            if (first + k <= i) continue;  // every pair once
            const int bin = findBin(bounds, bins, squaredDistance(mine, tile + 3 * k));
            if (bin >= 0 && bin < bins) atomicAdd(&histogram[bin], 1u);
        }
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += THREADS) {
        if (histogram[b] != 0) atomicAdd(&counts[b], static_cast<unsigned long long>(histogram[b]));
    }
}

int main() {
    std::vector<int> sizes(2);
    readFile("data/sizes.bin", sizes);
    const int particles = sizes[0], bins = sizes[1];
    if (particles < 2 || particles > 65536 || bins < 1 || bins > 2048) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<uint16_t> positions(3 * static_cast<size_t>(particles));
    std::vector<uint64_t> edges(bins + 1), counts(bins);
    readFile("data/positions.bin", positions);
    readFile("data/edges.bin", edges);
    uint16_t* dPositions;
    uint64_t* dEdges;
    unsigned long long* dCounts;
    TRY(cudaMalloc(&dPositions, positions.size() * sizeof(uint16_t)));
    TRY(cudaMalloc(&dEdges, edges.size() * sizeof(uint64_t)));
    TRY(cudaMalloc(&dCounts, bins * sizeof(uint64_t)));
    TRY(cudaMemcpy(dPositions, positions.data(), positions.size() * sizeof(uint16_t), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(dEdges, edges.data(), edges.size() * sizeof(uint64_t), cudaMemcpyHostToDevice));
    TRY(cudaMemset(dCounts, 0, bins * sizeof(uint64_t)));
    const int tiles = (particles + THREADS - 1) / THREADS;
    countPairs<<<dim3(tiles, tiles), THREADS>>>(dPositions, dEdges, dCounts, particles, bins);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(counts.data(), dCounts, bins * sizeof(uint64_t), cudaMemcpyDeviceToHost));
    TRY(cudaFree(dPositions));
    TRY(cudaFree(dEdges));
    TRY(cudaFree(dCounts));
    FILE* file = fopen("data/counts.bin", "wb");
    if (!file || fwrite(counts.data(), sizeof(uint64_t), bins, file) != counts.size() || fclose(file) != 0) return 1;
    return 0;
}
