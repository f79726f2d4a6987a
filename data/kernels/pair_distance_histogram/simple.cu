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

// One thread compares one particle with all later ones.
__global__ void countPairs(const uint16_t* positions, const uint64_t* edges, unsigned long long* counts, int particles,
                           int bins) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = i + 1; j < particles; ++j) {
        const int bin = findBin(edges, bins, squaredDistance(positions + 3 * i, positions + 3 * j));
        if (bin >= 0 && bin < bins) atomicAdd(&counts[bin], 1ull);
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
    countPairs<<<(particles + 127) / 128, 128>>>(dPositions, dEdges, dCounts, particles, bins);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(counts.data(), dCounts, bins * sizeof(uint64_t), cudaMemcpyDeviceToHost));
    TRY(cudaFree(dPositions));
    TRY(cudaFree(dEdges));
    TRY(cudaFree(dCounts));
    FILE* file = fopen("data/counts.bin", "wb");
    if (!file || fwrite(counts.data(), sizeof(uint64_t), bins, file) != counts.size() || fclose(file) != 0) return 1;
    return 0;
}
