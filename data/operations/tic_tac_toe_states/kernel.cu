#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N 4000
#define BLOCK 256

#define CUDA_CHECK(x)                                                                       \
    do {                                                                                    \
        cudaError_t status = (x);                                                           \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

__constant__ int lines[8] = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};

// Each player's squares form a mask of nine bits; counts are gathered per block.
__global__ void judge_masks(const uint8_t* __restrict__ boards, uint8_t* __restrict__ state, int* totals) {
    __shared__ int counts[5];
    if (threadIdx.x < 5) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        int x = 0, o = 0;
        for (int k = 0; k < 9; ++k) {
            int mark = boards[(size_t)i * 9 + k];
            x |= (mark & 1) << k;
            o |= (mark >> 1) << k;
        }
        bool wx = false, wo = false;
        for (int k = 0; k < 8; ++k) {
            wx |= (x & lines[k]) == lines[k];
            wo |= (o & lines[k]) == lines[k];
        }
        const int extra = __popc(x) - __popc(o);
        const bool fine = (extra == 0 && !wx) || (extra == 1 && !wo);
        int code = !fine ? 4 : wx ? 1 : wo ? 2 : (x | o) == 511 ? 3 : 0;
        state[i] = (uint8_t)code;
        atomicAdd(&counts[code], 1);
    }
    __syncthreads();
    if (threadIdx.x < 5) atomicAdd(&totals[threadIdx.x], counts[threadIdx.x]);
}

int main(void) {
    const size_t total = (size_t)N * 9;
    uint8_t* h_boards = (uint8_t*)malloc(total * sizeof(uint8_t));
    uint8_t* h_state = (uint8_t*)malloc(N * sizeof(uint8_t));
    int* h_totals = (int*)malloc(5 * sizeof(int));

    FILE* file = fopen("data/boards.bin", "rb");
    if (!file || fread(h_boards, sizeof(uint8_t), total, file) != total) {
        fprintf(stderr, "cannot read data/boards.bin\n");
        return 1;
    }
    fclose(file);

    uint8_t *d_boards, *d_state;
    int *d_totals;
    CUDA_CHECK(cudaMalloc(&d_boards, total * sizeof(uint8_t)));
    CUDA_CHECK(cudaMalloc(&d_state, N * sizeof(uint8_t)));
    CUDA_CHECK(cudaMalloc(&d_totals, 5 * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_boards, h_boards, total * sizeof(uint8_t), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_totals, 0, 5 * sizeof(int)));

    int blocks = (N + BLOCK - 1) / BLOCK;
    if (blocks > 800) blocks = 800;
    judge_masks<<<blocks, BLOCK>>>(d_boards, d_state, d_totals);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(h_state, d_state, N * sizeof(uint8_t), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(h_totals, d_totals, 5 * sizeof(int), cudaMemcpyDeviceToHost));

    file = fopen("data/state.bin", "wb");
    if (!file) return 1;
    fwrite(h_state, sizeof(uint8_t), N, file);
    fclose(file);
    file = fopen("data/totals.bin", "wb");
    if (!file) return 1;
    fwrite(h_totals, sizeof(int), 5, file);
    fclose(file);

    cudaFree(d_boards);
    cudaFree(d_state);
    cudaFree(d_totals);
    free(h_boards);
    free(h_state);
    free(h_totals);
    return 0;
}
