#include <cstdio>
#include <cuda_runtime.h>

static const int ROWS = 50;
static const int COLS = 300;
static const int WARPS = 4;
static const float PI = 3.14159265f;

// A warp per row: two ballots mark the jumps, bit counts below each lane give its number of turns.
__global__ void unwrap_ballot(const float* __restrict__ phase, float* __restrict__ unwrapped,
    int* __restrict__ turns) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)r * COLS;
    unsigned int upTo = 0xffffffffu >> (31 - lane);
    int carry = 0;
    for (int start = 0; start < COLS; start += 32) {
        int c = start + lane;
        float v = c < COLS ? phase[base + c] : 0.0f;
        float d = c > 0 && c < COLS ? v - phase[base + c - 1] : 0.0f;
        unsigned int up = __ballot_sync(0xffffffffu, d < -PI);
        unsigned int down = __ballot_sync(0xffffffffu, d > PI);
        if (c < COLS) {
            int k = carry + __popc(up & upTo) - __popc(down & upTo);
            unwrapped[base + c] = fmaf(2.0f * PI, (float)k, v);
            turns[base + c] = k;
        }
        carry += __popc(up) - __popc(down);
    }
}

int main() {
    const size_t n = (size_t)ROWS * COLS;
    float* phase;
    float* unwrapped;
    int* turns;
    cudaMallocManaged(&phase, n * sizeof(float));
    cudaMallocManaged(&unwrapped, n * sizeof(float));
    cudaMallocManaged(&turns, n * sizeof(int));

    FILE* fp = fopen("data/phase.bin", "rb");
    if (!fp || fread(phase, sizeof(float), n, fp) != n) {
        fprintf(stderr, "data/phase.bin missing or short\n");
        return 1;
    }
    fclose(fp);

    unwrap_ballot<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(phase, unwrapped, turns);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out_unwrapped = fopen("data/unwrapped.bin", "wb");
    fwrite(unwrapped, sizeof(float), n, out_unwrapped);
    fclose(out_unwrapped);
    FILE* out_turns = fopen("data/turns.bin", "wb");
    fwrite(turns, sizeof(int), n, out_turns);
    fclose(out_turns);

    cudaFree(phase);
    cudaFree(unwrapped);
    cudaFree(turns);
    return 0;
}
