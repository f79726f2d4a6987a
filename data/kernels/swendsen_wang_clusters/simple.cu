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

__global__ void reset(int* labels, int sites) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < sites) labels[i] = i;
}

// Labels spread along bonds, the smaller one wins; `changed` says whether another round is due.
__global__ void spread(const int8_t* spins, const uint32_t* random, const uint32_t* threshold, int* labels,
                       int* changed, int height, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height * width) return;
    for (int axis = 0; axis < 2; ++axis) {
        const int other = bondedTo(spins, random, *threshold, axis, i, height, width);
        if (other < 0) continue;
        const int mine = atomicAdd(&labels[i], 0), theirs = atomicAdd(&labels[other], 0);
        if (mine == theirs) continue;
        // The label is a site of the same cluster, and so may be lowered too: that makes few rounds enough.
        const int low = min(mine, theirs), high = max(mine, theirs);
        atomicMin(&labels[i], low);
        atomicMin(&labels[other], low);
        atomicMin(&labels[high], low);
        *changed = 1;
    }
}

__global__ void flip(const int8_t* spins, const uint8_t* flipRandom, const int* labels, int8_t* spinsOut,
                     int* clusters, int sites) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sites) return;
    if (labels[i] == i) atomicAdd(clusters, 1);
    spinsOut[i] = flipRandom[labels[i]] == 1 ? -spins[i] : spins[i];
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
    int *changed, again;
    CALL(cudaMalloc(&changed, sizeof(int)));
    CALL(cudaMemset(clusters, 0, sizeof(int)));
    reset<<<blocks, 256>>>(labels, sites);
    do {
        CALL(cudaMemset(changed, 0, sizeof(int)));
        spread<<<blocks, 256>>>(spins, bondRandom, threshold, labels, changed, height, width);
        CALL(cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost));
    } while (again);
    flip<<<blocks, 256>>>(spins, flipRandom, labels, spinsOut, clusters, sites);
    CALL(cudaGetLastError());
    CALL(cudaFree(changed));
    store("data/labels.bin", labels, sites);
    store("data/spins_out.bin", spinsOut, sites);
    store("data/clusters.bin", clusters, 1);
    CALL(cudaFree(spins));
    CALL(cudaFree(bondRandom));
    CALL(cudaFree(flipRandom));
    CALL(cudaFree(threshold));
    return 0;
}
