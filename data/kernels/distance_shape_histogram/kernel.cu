#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxPoints = 16384, kMaxBins = 256, kTile = 256;

__global__ void pairHistogram(const int16_t* __restrict__ points, const int* __restrict__ edges, int* histogram,
                              int n, int bins) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ int x[kTile], y[kTile], z[kTile], edge[kMaxBins], counts[kMaxBins];
    const int t = threadIdx.x, other = blockIdx.x * kTile + t, own = blockIdx.y * kTile + t;
    if (other < n) {
        x[t] = points[3 * other];
        y[t] = points[3 * other + 1];
        z[t] = points[3 * other + 2];
    }
    if (t < bins - 1) edge[t] = edges[t];
    if (t < bins) counts[t] = 0;
    __syncthreads();
    if (own < n) {
        const int px = points[3 * own], py = points[3 * own + 1], pz = points[3 * own + 2];
        const int first = blockIdx.x * kTile, end = min(kTile, n - first);
        for (int j = max(0, own + 1 - first); j < end; ++j) {
            const int dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
            const int square = dx * dx + dy * dy + dz * dz;
            int low = 0, high = bins - 1;  // the first edge above the value
            while (low < high) {
                const int middle = (low + high) / 2;
                if (edge[middle] <= square) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            atomicAdd(&counts[low], 1);
        }
    }
    __syncthreads();
    if (t < bins && counts[t] > 0) atomicAdd(&histogram[t], counts[t]);
}

static void quit(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) quit("CUDA", cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file) quit(path, "cannot be opened");
    if (fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) quit(path, "wrong length");
    fclose(file);
    return values;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int n = sizes[0], bins = sizes[1];
    if (n < 2 || n > kMaxPoints || bins < 2 || bins > kMaxBins) quit("data/sizes.bin", "out of range");
    const auto points = readFile<int16_t>("data/points.bin", 3 * static_cast<size_t>(n));
    const auto edges = readFile<int>("data/edges.bin", bins - 1);
    for (int b = 1; b < bins - 1; ++b) {
        if (edges[b] <= edges[b - 1]) quit("data/edges.bin", "not ascending");
    }
    int16_t* dPoints;
    int *dEdges, *dHistogram;
    check(cudaMalloc(&dPoints, points.size() * sizeof(int16_t)));
    check(cudaMalloc(&dEdges, edges.size() * sizeof(int)));
    check(cudaMalloc(&dHistogram, bins * sizeof(int)));
    check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int16_t), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dEdges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemset(dHistogram, 0, bins * sizeof(int)));
    const int tiles = (n + kTile - 1) / kTile;
    pairHistogram<<<dim3(tiles, tiles), kTile>>>(dPoints, dEdges, dHistogram, n, bins);
    check(cudaGetLastError());
    std::vector<int> histogram(bins);
    check(cudaMemcpy(histogram.data(), dHistogram, bins * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(dPoints));
    check(cudaFree(dEdges));
    check(cudaFree(dHistogram));
    FILE* out = fopen("data/histogram.bin", "wb");
    if (!out || fwrite(histogram.data(), sizeof(int), bins, out) != histogram.size() || fclose(out) != 0) {
        quit("data/histogram.bin", "cannot be written");
    }
    return 0;
}
