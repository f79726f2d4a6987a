#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define PATHS 300
#define STEPS 120
#define WARPS 8

#define gpuErrchk(call)                                                                     \
    do {                                                                                    \
        cudaError_t status_ = (call);                                                       \
        if (status_ != cudaSuccess) {                                                       \
            printf("CUDA failure at line %d: %s\n", __LINE__, cudaGetErrorString(status_)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

// A warp looks at 32 prices of its path together and stops at the first group with a hit.
__global__ void knock_out_warp(const float* __restrict__ path, const float* __restrict__ strike,
                               float* __restrict__ payoff, int* __restrict__ hit) {
    const int p = blockIdx.x * WARPS + threadIdx.y;
    if (p >= PATHS) return;
    const float* row = path + (size_t)p * STEPS;
    int when = -1;
    for (int k0 = 0; k0 < STEPS && when < 0; k0 += 32) {
        const int k = k0 + threadIdx.x;
        const bool below = k < STEPS && row[k] <= 85.0f;
        const unsigned int votes = __ballot_sync(0xffffffffu, below);
        if (votes) when = k0 + __ffs(votes) - 1;
    }
    if (threadIdx.x == 0) {
        const float time = when < 0 ? 1.0f : (float)(when + 1) / STEPS;
        const float amount = when < 0 ? fmaxf(row[STEPS - 1] - strike[p], 0.0f) : 2.5f;
        payoff[p] = amount * expf(-0.04f * time);
        hit[p] = when;
    }
}

int main() {
    const size_t total = (size_t)PATHS * STEPS;
    float* host_path = (float*)malloc(total * sizeof(float));
    float* host_strike = (float*)malloc(PATHS * sizeof(float));
    float* host_payoff = (float*)malloc(PATHS * sizeof(float));
    int* host_hit = (int*)malloc(PATHS * sizeof(int));

    FILE* in = fopen("data/path.bin", "rb");
    if (!in || fread(host_path, sizeof(float), total, in) != total) {
        fprintf(stderr, "cannot read data/path.bin\n");
        return 1;
    }
    fclose(in);
    in = fopen("data/strike.bin", "rb");
    if (!in || fread(host_strike, sizeof(float), PATHS, in) != (size_t)PATHS) {
        fprintf(stderr, "cannot read data/strike.bin\n");
        return 1;
    }
    fclose(in);

    float* d_path;
    float* d_strike;
    float* d_payoff;
    int* d_hit;
    gpuErrchk(cudaMalloc(&d_path, total * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_strike, PATHS * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_payoff, PATHS * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_hit, PATHS * sizeof(int)));

    gpuErrchk(cudaMemcpy(d_path, host_path, total * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_strike, host_strike, PATHS * sizeof(float), cudaMemcpyHostToDevice));

    knock_out_warp<<<(PATHS + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_path, d_strike, d_payoff, d_hit);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(host_payoff, d_payoff, PATHS * sizeof(float), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(host_hit, d_hit, PATHS * sizeof(int), cudaMemcpyDeviceToHost));

    FILE* out = fopen("data/payoff.bin", "wb");
    if (!out || fwrite(host_payoff, sizeof(float), PATHS, out) != (size_t)PATHS) {
        fprintf(stderr, "cannot write data/payoff.bin\n");
        return 1;
    }
    fclose(out);
    out = fopen("data/hit.bin", "wb");
    if (!out || fwrite(host_hit, sizeof(int), PATHS, out) != (size_t)PATHS) {
        fprintf(stderr, "cannot write data/hit.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_path);
    cudaFree(d_strike);
    cudaFree(d_payoff);
    cudaFree(d_hit);
    free(host_path);
    free(host_strike);
    free(host_payoff);
    free(host_hit);
    return 0;
}
