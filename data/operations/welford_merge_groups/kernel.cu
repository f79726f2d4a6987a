#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int GROUPS = 200;
const int PARTS = 20;
const int WARPS = 4;

#define CHECK(x)                                                                            \
    do {                                                                                    \
        cudaError_t status = (x);                                                           \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

struct Moments {
    float n, m, q;
};

__device__ Moments merge(Moments a, Moments b) {
    const float total = a.n + b.n;
    if (total == 0.0f) return a;
    const float share = b.n / total, delta = b.m - a.m;
    return {total, a.m + delta * share, a.q + b.q + delta * delta * a.n * share};
}

// One warp a group; lanes merge their parts in turn and then with each other.
__global__ void merge_parts_warp(const int* __restrict__ counts, const float* __restrict__ means,
                                 const float* __restrict__ squares, float* __restrict__ mean,
                                 float* __restrict__ variance) {
    const int lane = threadIdx.x & 31;
    const int g = blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (g >= GROUPS) return;
    const size_t base = (size_t)g * PARTS;
    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int p = lane; p < PARTS; p += 32) {
        mine = merge(mine, {(float)counts[base + p], means[base + p], squares[base + p]});
    }
    for (int s = 16; s > 0; s >>= 1) {
        Moments other;
        other.n = __shfl_down_sync(0xffffffffu, mine.n, s);
        other.m = __shfl_down_sync(0xffffffffu, mine.m, s);
        other.q = __shfl_down_sync(0xffffffffu, mine.q, s);
        mine = merge(mine, other);
    }
    if (lane == 0) {
        mean[g] = mine.m;
        variance[g] = mine.q / (mine.n - 1.0f);
    }
}

int main(void) {
    const size_t count = (size_t)GROUPS * PARTS;
    int* h_counts = (int*)malloc(count * sizeof(int));
    float* h_means = (float*)malloc(count * sizeof(float));
    float* h_squares = (float*)malloc(count * sizeof(float));
    float* h_mean = (float*)malloc(GROUPS * sizeof(float));
    float* h_variance = (float*)malloc(GROUPS * sizeof(float));

    FILE* file = fopen("data/counts.bin", "rb");
    if (!file || fread(h_counts, sizeof(int), count, file) != count) {
        fprintf(stderr, "cannot read data/counts.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/means.bin", "rb");
    if (!file || fread(h_means, sizeof(float), count, file) != count) {
        fprintf(stderr, "cannot read data/means.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/squares.bin", "rb");
    if (!file || fread(h_squares, sizeof(float), count, file) != count) {
        fprintf(stderr, "cannot read data/squares.bin\n");
        return 1;
    }
    fclose(file);

    int *d_counts;
    float *d_means, *d_squares, *d_mean, *d_variance;
    CHECK(cudaMalloc(&d_counts, count * sizeof(int)));
    CHECK(cudaMalloc(&d_means, count * sizeof(float)));
    CHECK(cudaMalloc(&d_squares, count * sizeof(float)));
    CHECK(cudaMalloc(&d_mean, GROUPS * sizeof(float)));
    CHECK(cudaMalloc(&d_variance, GROUPS * sizeof(float)));
    CHECK(cudaMemcpy(d_counts, h_counts, count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_means, h_means, count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_squares, h_squares, count * sizeof(float), cudaMemcpyHostToDevice));

    const int blocks = (GROUPS + WARPS - 1) / WARPS;
    merge_parts_warp<<<blocks, WARPS * 32>>>(d_counts, d_means, d_squares, d_mean, d_variance);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h_mean, d_mean, GROUPS * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_variance, d_variance, GROUPS * sizeof(float), cudaMemcpyDeviceToHost));

    file = fopen("data/mean.bin", "wb");
    if (!file) return 1;
    fwrite(h_mean, sizeof(float), GROUPS, file);
    fclose(file);
    file = fopen("data/variance.bin", "wb");
    if (!file) return 1;
    fwrite(h_variance, sizeof(float), GROUPS, file);
    fclose(file);

    cudaFree(d_counts);
    cudaFree(d_means);
    cudaFree(d_squares);
    cudaFree(d_mean);
    cudaFree(d_variance);
    free(h_counts);
    free(h_means);
    free(h_squares);
    free(h_mean);
    free(h_variance);
    return 0;
}
