#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_LAYERS = 256, LONGEST = 500;
using Count = unsigned long long;

#define CUDA_CALL(call)                                                               \
    do {                                                                              \
        cudaError_t code = (call);                                                    \
        if (code != cudaSuccess) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(code));     \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

template <typename T>
static T* upload(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    T* device;
    CUDA_CALL(cudaMalloc(&device, count * sizeof(T)));
    CUDA_CALL(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void download(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    CUDA_CALL(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
}

struct Fate {
    int kind, layer, scatterings;  // kind: 0 reflected, 1 transmitted, 2 absorbed in `layer`, 3 still on its way
};

__device__ Fate walk(uint32_t x, const uint16_t* absorb, int layers) {
    int layer = 0;
    for (int n = 0; n < LONGEST; ++n) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        if (x >> 16 < absorb[layer]) return {2, layer, n};
        layer += x % 8 < 5 ? 1 : -1;
        if (layer < 0) return {0, 0, n + 1};
        if (layer >= layers) return {1, 0, n + 1};
    }
    return {3, 0, LONGEST};
}

constexpr int THREADS = 256;

__global__ void trace(const uint32_t* __restrict__ seeds, const uint16_t* __restrict__ absorb, Count* fates,
                      Count* absorbedIn, int16_t* __restrict__ scatterings, int photons, int layers) {
    __shared__ unsigned inLayer[MAX_LAYERS], byKind[4];
    __shared__ uint16_t chance[MAX_LAYERS];
    for (int k = threadIdx.x; k < layers; k += THREADS) {
        inLayer[k] = 0;
        chance[k] = absorb[k];
    }
    if (threadIdx.x < 4) byKind[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < photons; i += gridDim.x * THREADS) {
        const Fate fate = walk(seeds[i], chance, layers);
        scatterings[i] = static_cast<int16_t>(fate.scatterings);
        atomicAdd(&byKind[fate.kind], 1u);
        if (fate.kind == 2) atomicAdd(&inLayer[fate.layer], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < layers; k += THREADS) {
        if (inLayer[k] > 0) atomicAdd(&absorbedIn[k], static_cast<Count>(inLayer[k]));
    }
    if (threadIdx.x < 3) atomicAdd(&fates[threadIdx.x], static_cast<Count>(byKind[threadIdx.x]));
}

int main() {
    int sizes[2];
    int* dSizes = upload<int>("data/sizes.bin", 2);
    CUDA_CALL(cudaMemcpy(sizes, dSizes, sizeof sizes, cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaFree(dSizes));
    const int photons = sizes[0], layers = sizes[1];
    if (photons < 1 || photons > 4000000 || layers < 1 || layers > MAX_LAYERS) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    uint32_t* seeds = upload<uint32_t>("data/seeds.bin", photons);
    uint16_t* absorb = upload<uint16_t>("data/absorb.bin", layers);
    Count *fates, *absorbedIn;
    int16_t* scatterings;
    CUDA_CALL(cudaMalloc(&fates, 3 * sizeof(Count)));
    CUDA_CALL(cudaMalloc(&absorbedIn, layers * sizeof(Count)));
    CUDA_CALL(cudaMalloc(&scatterings, photons * sizeof(int16_t)));
    CUDA_CALL(cudaMemset(fates, 0, 3 * sizeof(Count)));
    CUDA_CALL(cudaMemset(absorbedIn, 0, layers * sizeof(Count)));
    const int wanted = (photons + 255) / 256, blocks = wanted < 1024 ? wanted : 1024;
    trace<<<blocks, THREADS>>>(seeds, absorb, fates, absorbedIn, scatterings, photons, layers);
    CUDA_CALL(cudaGetLastError());
    download("data/fates.bin", fates, 3);
    download("data/absorbed_in.bin", absorbedIn, layers);
    download("data/scatterings.bin", scatterings, photons);
    CUDA_CALL(cudaFree(seeds));
    CUDA_CALL(cudaFree(absorb));
    return 0;
}
