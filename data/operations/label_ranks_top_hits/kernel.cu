#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define ROWS 250
#define CLASSES 60
#define TOPK 5
#define TOTAL (ROWS * CLASSES)

#define CUDA_CHECK(x)                                                                    \
    do {                                                                                 \
        cudaError_t rc_ = (x);                                                           \
        if (rc_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc_)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

__global__ void rank_rows(const float* __restrict__ scores, const int* __restrict__ labels,
                          const int* __restrict__ cutoffs, int* rank, int* hits) {
    __shared__ int local[TOPK];
    for (int k = threadIdx.x; k < TOPK; k += blockDim.x) local[k] = 0;
    __syncthreads();
    const int lane = threadIdx.x & 31;
    const int warps = gridDim.x * blockDim.x / 32;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < ROWS; row += warps) {
        const float* s = scores + (size_t)row * CLASSES;
        const int y = labels[row];
        const float own = s[y];
        int ahead = 0;
        for (int first = 0; first < CLASSES; first += 32) {
            const int k = first + lane;
            const bool better = k < CLASSES && (s[k] > own || (s[k] == own && k < y));
            ahead += __popc(__ballot_sync(0xffffffffu, better));
        }
        if (lane == 0) rank[row] = ahead;
        for (int j = lane; j < TOPK; j += 32) {
            if (ahead < cutoffs[j]) atomicAdd(&local[j], 1);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < TOPK; k += blockDim.x) atomicAdd(&hits[k], local[k]);
}

int main(void) {
    float* host_scores = (float*)malloc(TOTAL * sizeof(float));
    int* host_labels = (int*)malloc(ROWS * sizeof(int));
    int* host_cutoffs = (int*)malloc(TOPK * sizeof(int));
    int* host_rank = (int*)malloc(ROWS * sizeof(int));
    int* host_hits = (int*)malloc(TOPK * sizeof(int));

    FILE* file = fopen("data/scores.bin", "rb");
    if (!file || fread(host_scores, sizeof(float), TOTAL, file) != (size_t)TOTAL) {
        fprintf(stderr, "failed to read data/scores.bin\n");
        return 1;
    }
    fclose(file);

    file = fopen("data/labels.bin", "rb");
    if (!file || fread(host_labels, sizeof(int), ROWS, file) != (size_t)ROWS) {
        fprintf(stderr, "cannot read data/labels.bin\n");
        return 1;
    }
    fclose(file);

    file = fopen("data/cutoffs.bin", "rb");
    if (!file || fread(host_cutoffs, sizeof(int), TOPK, file) != (size_t)TOPK) {
        fprintf(stderr, "cannot read data/cutoffs.bin\n");
        return 1;
    }
    fclose(file);

    float* d_scores;
    int *d_labels, *d_cutoffs, *d_rank, *d_hits;
    CUDA_CHECK(cudaMalloc(&d_scores, TOTAL * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_labels, ROWS * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_cutoffs, TOPK * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_rank, ROWS * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_hits, TOPK * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_scores, host_scores, TOTAL * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_labels, host_labels, ROWS * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_cutoffs, host_cutoffs, TOPK * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_hits, 0, TOPK * sizeof(int)));

    rank_rows<<<128, 256>>>(d_scores, d_labels, d_cutoffs, d_rank, d_hits);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(host_rank, d_rank, ROWS * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(host_hits, d_hits, TOPK * sizeof(int), cudaMemcpyDeviceToHost));

    file = fopen("data/rank.bin", "wb");
    if (!file) {
        fprintf(stderr, "cannot open data/rank.bin\n");
        return 1;
    }
    fwrite(host_rank, sizeof(int), ROWS, file);
    fclose(file);
    file = fopen("data/hits.bin", "wb");
    if (!file) {
        fprintf(stderr, "cannot open data/hits.bin\n");
        return 1;
    }
    fwrite(host_hits, sizeof(int), TOPK, file);
    fclose(file);
    cudaFree(d_scores);
    cudaFree(d_labels);
    cudaFree(d_cutoffs);
    cudaFree(d_rank);
    cudaFree(d_hits);
    free(host_scores);
    free(host_labels);
    free(host_cutoffs);
    free(host_rank);
    free(host_hits);
    return 0;
}
