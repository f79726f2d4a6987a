#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 1000;
constexpr int kM = 100;
const int kBlock = 128;

static void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

bool load_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool store_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(src, 1, bytes, f);
    fclose(f);
    return put == bytes;
}

__device__ int turn(int2 a, int2 b, int2 p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

__device__ bool opposite(int u, int v) { return (u > 0 && v < 0) || (u < 0 && v > 0); }

__global__ void tiled_crossings(const int4* __restrict__ first, const int4* __restrict__ second,
                                int* __restrict__ crossings) {
    __shared__ int4 tile[kBlock];
    int i = blockIdx.x * kBlock + threadIdx.x;
    int4 own = i < kN ? first[i] : make_int4(0, 0, 0, 0);
    int2 a = make_int2(own.x, own.y), b = make_int2(own.z, own.w);
    int count = 0;
    for (int start = 0; start < kM; start += kBlock) {
        int j = start + threadIdx.x;
        if (j < kM) tile[threadIdx.x] = second[j];
        __syncthreads();
        int limit = min(kBlock, kM - start);
        for (int k = 0; k < limit; ++k) {
            int2 c = make_int2(tile[k].x, tile[k].y), d = make_int2(tile[k].z, tile[k].w);
            if (opposite(turn(a, b, c), turn(a, b, d)))
                count += opposite(turn(c, d, a), turn(c, d, b));
        }
        __syncthreads();
    }
    if (i < kN) crossings[i] = count;
}

int main() {
    std::vector<int> first(kN * 4);
    std::vector<int> second(kM * 4);
    std::vector<int> crossings(kN);
    if (!load_file("data/first.bin", first.data(), kN * 4 * sizeof(int))) {
        fprintf(stderr, "cannot read data/first.bin\n");
        return 1;
    }
    if (!load_file("data/second.bin", second.data(), kM * 4 * sizeof(int))) {
        fprintf(stderr, "cannot read data/second.bin\n");
        return 1;
    }

    int *d_first, *d_second, *d_crossings;
    checkCuda(cudaMalloc(&d_first, kN * 4 * sizeof(int)), "allocate first");
    checkCuda(cudaMalloc(&d_second, kM * 4 * sizeof(int)), "allocate second");
    checkCuda(cudaMalloc(&d_crossings, kN * sizeof(int)), "cudaMalloc");
    checkCuda(cudaMemcpy(d_first, first.data(), kN * 4 * sizeof(int), cudaMemcpyHostToDevice), "copy first");
    checkCuda(cudaMemcpy(d_second, second.data(), kM * 4 * sizeof(int), cudaMemcpyHostToDevice), "copy second");

    tiled_crossings<<<(kN + kBlock - 1) / kBlock, kBlock>>>((const int4*)d_first, (const int4*)d_second,
        d_crossings);
    checkCuda(cudaGetLastError(), "kernel launch");

    checkCuda(cudaMemcpy(crossings.data(), d_crossings, kN * sizeof(int), cudaMemcpyDeviceToHost),
              "copy crossings");
    if (!store_file("data/crossings.bin", crossings.data(), kN * sizeof(int))) return 1;

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_crossings);
    return 0;
}
