#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

const int kSteps = 40;
const int kBatch = 50;
const int kBeams = 5;

#define CUDA_CALL(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(e), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

// A block of 32 threads takes one hypothesis: lane 0 follows the parents and notes the slots in shared memory,
// then all lanes fetch and write tokens side by side.
__global__ void backtrace_block(const int* __restrict__ tokens, const int* __restrict__ parents,
                                int* __restrict__ sequences, int* __restrict__ used) {
    __shared__ int place[kSteps];
    __shared__ int length;
    const int i = blockIdx.x, b = i / kBeams;
    if (threadIdx.x == 0) {
        length = kSteps;
        int slot = i % kBeams;
        for (int t = kSteps - 1; t >= 0; --t) {
            place[t] = (t * kBatch + b) * kBeams + slot;
            slot = parents[place[t]];
        }
    }
    __syncthreads();
    for (int t = threadIdx.x; t < kSteps; t += 32) {
        place[t] = tokens[place[t]];
        if (place[t] == 2) atomicMin(&length, t + 1);
    }
    __syncthreads();
    for (int t = threadIdx.x; t < kSteps; t += 32) sequences[(size_t)i * kSteps + t] = t < length ? place[t] : 0;
    if (threadIdx.x == 0) used[i] = length;
}

int main() {
    const size_t tokens_count = kSteps * kBatch * kBeams;
    const size_t sequences_count = kBatch * kBeams * kSteps;
    const size_t used_count = kBatch * kBeams;
    int* tokens_host = (int*)malloc(tokens_count * sizeof(int));
    int* parents_host = (int*)malloc(tokens_count * sizeof(int));
    int* sequences_host = (int*)malloc(sequences_count * sizeof(int));
    int* used_host = (int*)malloc(used_count * sizeof(int));

    FILE* fp;
    fp = fopen("data/tokens.bin", "rb");
    if (!fp || fread(tokens_host, sizeof(int), tokens_count, fp) != tokens_count) {
        fprintf(stderr, "cannot read data/tokens.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/parents.bin", "rb");
    if (!fp || fread(parents_host, sizeof(int), tokens_count, fp) != tokens_count) {
        fprintf(stderr, "cannot read data/parents.bin\n");
        return 1;
    }
    fclose(fp);

    int* tokens_d;
    int* parents_d;
    int* sequences_d;
    int* used_d;
    CUDA_CALL(cudaMalloc(&tokens_d, tokens_count * sizeof(int)));
    CUDA_CALL(cudaMalloc(&parents_d, tokens_count * sizeof(int)));
    CUDA_CALL(cudaMalloc(&sequences_d, sequences_count * sizeof(int)));
    CUDA_CALL(cudaMalloc(&used_d, used_count * sizeof(int)));
    CUDA_CALL(cudaMemcpy(tokens_d, tokens_host, tokens_count * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(parents_d, parents_host, tokens_count * sizeof(int), cudaMemcpyHostToDevice));

    backtrace_block<<<kBatch * kBeams, 32>>>(tokens_d, parents_d, sequences_d, used_d);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());

    CUDA_CALL(cudaMemcpy(sequences_host, sequences_d, sequences_count * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(used_host, used_d, used_count * sizeof(int), cudaMemcpyDeviceToHost));
    fp = fopen("data/sequences.bin", "wb");
    if (!fp || fwrite(sequences_host, sizeof(int), sequences_count, fp) != sequences_count) {
        fprintf(stderr, "cannot write data/sequences.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/used.bin", "wb");
    if (!fp || fwrite(used_host, sizeof(int), used_count, fp) != used_count) {
        fprintf(stderr, "cannot write data/used.bin\n");
        return 1;
    }
    fclose(fp);

    cudaFree(tokens_d);
    cudaFree(parents_d);
    cudaFree(sequences_d);
    cudaFree(used_d);
    free(tokens_host);
    free(parents_host);
    free(sequences_host);
    free(used_host);
    return 0;
}
