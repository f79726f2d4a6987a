#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CALL(expression)                                                                        \
    do {                                                                                        \
        const cudaError_t outcome = (expression);                                               \
        if (outcome != cudaSuccess) {                                                           \
            fprintf(stderr, "%s: %s\n", #expression, cudaGetErrorString(outcome));              \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

template <typename T>
static T* load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    T* device;
    CALL(cudaMalloc(&device, count * sizeof(T)));
    CALL(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void store(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    CALL(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CALL(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

// The site that bond `axis` (0 to the right, 1 down) of site i leads to, or -1 if the bond is open.
__device__ int bondedTo(const int8_t* spins, const uint32_t* random, uint32_t threshold, int axis, int i, int height,
                        int width) {
    const int y = i / width, x = i % width;
    const int other = axis == 0 ? y * width + (x + 1) % width : (y + 1) % height * width + x;
    const bool joined = spins[i] == spins[other] && random[static_cast<size_t>(axis) * height * width + i] < threshold;
    return joined ? other : -1;
}

__global__ void reset(int* parent, int* clusters, int sites) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < sites) parent[i] = i;
    if (i == 0) *clusters = 0;
}

// Volatile, since other threads move parents meanwhile. Parents only get smaller.
__device__ int findRoot(const volatile int* parent, int i) {
    int next = parent[i];
    while (next != i) {
        i = next;
        next = parent[i];
    }
    return i;
}

__global__ void unite(const int8_t* spins, const uint32_t* random, const uint32_t* threshold, int* parent, int height,
                      int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height * width) return;
    for (int axis = 0; axis < 2; ++axis) {
        int other = bondedTo(spins, random, *threshold, axis, i, height, width);
        if (other < 0) continue;
        int mine = i;
        for (;;) {
            mine = findRoot(parent, mine);
            other = findRoot(parent, other);
            if (mine == other) break;
            const int low = min(mine, other), high = max(mine, other);
            // If `high` was no root any more, what it pointed to has to be joined with `low` as well.
            const int before = atomicMin(&parent[high], low);
            if (before == high) break;
            mine = low;
            other = before;
        }
    }
}

__global__ void flip(const int8_t* spins, const uint8_t* flipRandom, const int* parent, int* labels, int8_t* spinsOut,
                     int* clusters, int sites) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int root = i < sites ? findRoot(parent, i) : -1;
    const unsigned roots = __ballot_sync(0xffffffffu, root == i);
    if (threadIdx.x % 32 == 0 && roots != 0) atomicAdd(clusters, __popc(roots));
    if (i >= sites) return;
    labels[i] = root;
    spinsOut[i] = flipRandom[root] == 1 ? -spins[i] : spins[i];
}

int main() {
    int sizes[2];
    int* dSizes = load<int>("data/sizes.bin", 2);
    CALL(cudaMemcpy(sizes, dSizes, sizeof sizes, cudaMemcpyDeviceToHost));
    CALL(cudaFree(dSizes));
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > 2048 || width < 1 || width > 2048) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const int sites = height * width, blocks = (sites + 255) / 256;
    int8_t* spins = load<int8_t>("data/spins.bin", sites);
    uint32_t* bondRandom = load<uint32_t>("data/bond_random.bin", 2 * static_cast<size_t>(sites));
    uint8_t* flipRandom = load<uint8_t>("data/flip_random.bin", sites);
    uint32_t* threshold = load<uint32_t>("data/threshold.bin", 1);
    int *labels, *clusters;
    int8_t* spinsOut;
    CALL(cudaMalloc(&labels, sites * sizeof(int)));
    CALL(cudaMalloc(&clusters, sizeof(int)));
    CALL(cudaMalloc(&spinsOut, sites));
    int* parent;
    CALL(cudaMalloc(&parent, sites * sizeof(int)));
    reset<<<blocks, 256>>>(parent, clusters, sites);
    unite<<<blocks, 256>>>(spins, bondRandom, threshold, parent, height, width);
    flip<<<blocks, 256>>>(spins, flipRandom, parent, labels, spinsOut, clusters, sites);
    CALL(cudaGetLastError());
    CALL(cudaDeviceSynchronize());
    CALL(cudaFree(parent));
    store("data/labels.bin", labels, sites);
    store("data/spins_out.bin", spinsOut, sites);
    store("data/clusters.bin", clusters, 1);
    CALL(cudaFree(spins));
    CALL(cudaFree(bondRandom));
    CALL(cudaFree(flipRandom));
    CALL(cudaFree(threshold));
    return 0;
}
