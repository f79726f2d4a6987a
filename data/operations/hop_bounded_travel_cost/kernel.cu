#include <cstdlib>
#include <cstdio>
#include <cuda_runtime.h>

#define CUDA_CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void load_bin(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

#define NODES 1000
#define WIDTH 6
#define ROUNDS 6
#define LANES 4
#define BLOCK 128

// Four lanes read a row of the tables side by side and combine their minima.
__global__ void relax_lanes(const int* __restrict__ origin, const int* __restrict__ cost,
                            const int* __restrict__ before, int* __restrict__ after) {
    int v = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    bool valid = v < NODES;
    int best = valid ? before[v] : 0;
    if (valid) {
        for (int k = lane; k < WIDTH; k += LANES) {
            int u = origin[v * WIDTH + k];
            if (u >= 0) best = min(best, before[u] + cost[v * WIDTH + k]);
        }
    }
    best = min(best, __shfl_xor_sync(0xffffffffu, best, 2));
    best = min(best, __shfl_xor_sync(0xffffffffu, best, 1));
    if (valid && lane == 0) after[v] = best;
}

int main() {
    int* origin = (int*)malloc(NODES * WIDTH * sizeof(int));
    int* cost = (int*)malloc(NODES * WIDTH * sizeof(int));
    int* start = (int*)malloc(NODES * sizeof(int));
    int* distance = (int*)malloc(NODES * sizeof(int));
    load_bin("data/origin.bin", origin, NODES * WIDTH * sizeof(int));
    load_bin("data/cost.bin", cost, NODES * WIDTH * sizeof(int));
    load_bin("data/start.bin", start, NODES * sizeof(int));

    int* d_origin = nullptr;
    int* d_cost = nullptr;
    int* d_start = nullptr;
    int* d_distance = nullptr;
    int* d_other = nullptr;
    CUDA_CHECK(cudaMalloc(&d_origin, NODES * WIDTH * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_origin, origin, NODES * WIDTH * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&d_cost, NODES * WIDTH * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_cost, cost, NODES * WIDTH * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&d_start, NODES * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_start, start, NODES * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&d_distance, NODES * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_other, NODES * sizeof(int)));

    int blocks = (NODES * LANES + BLOCK - 1) / BLOCK;
    relax_lanes<<<blocks, BLOCK>>>(d_origin, d_cost, d_start, d_other);
    relax_lanes<<<blocks, BLOCK>>>(d_origin, d_cost, d_other, d_distance);
    for (int r = 2; r < ROUNDS; r += 2) {
        relax_lanes<<<blocks, BLOCK>>>(d_origin, d_cost, d_distance, d_other);
        relax_lanes<<<blocks, BLOCK>>>(d_origin, d_cost, d_other, d_distance);
    }
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(distance, d_distance, NODES * sizeof(int), cudaMemcpyDeviceToHost));

    save_bin("data/distance.bin", distance, NODES * sizeof(int));

    cudaFree(d_origin);
    cudaFree(d_cost);
    cudaFree(d_start);
    cudaFree(d_distance);
    cudaFree(d_other);
    free(origin);
    free(cost);
    free(start);
    free(distance);
    return 0;
}
