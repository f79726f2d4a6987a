#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define N 20000
#define SEGMENTS 150
#define WARPS 4

// A warp per segment. Lane l only meets words whose rotation is l, so it rotates once at the end.
__global__ void segment_xor_warp(const unsigned int* __restrict__ words, const int* __restrict__ offsets,
                                 unsigned int* __restrict__ checksum) {
    int s = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (s >= SEGMENTS) return;
    int end = offsets[s + 1];
    unsigned int acc = 0;
    for (int i = offsets[s] + lane; i < end; i += 32) acc ^= words[i];
    acc = __funnelshift_l(acc, acc, lane);
    for (int d = 16; d > 0; d >>= 1) acc ^= __shfl_xor_sync(0xffffffffu, acc, d);
    if (lane == 0) checksum[s] = acc;
}

int main() {
    const size_t n = (size_t)SEGMENTS + 1;
    std::vector<unsigned int> words(N), checksum(SEGMENTS);
    std::vector<int> offsets(n);
    FILE* f0 = fopen("data/words.bin", "rb");
    if (!f0 || fread(words.data(), sizeof(unsigned int), N, f0) != N) return 1;
    fclose(f0);
    FILE* f1 = fopen("data/offsets.bin", "rb");
    if (!f1 || fread(offsets.data(), sizeof(int), n, f1) != n) return 1;
    fclose(f1);
    unsigned int* d_words;
    unsigned int* d_checksum;
    int* d_offsets;
    cudaMalloc(&d_words, N * sizeof(unsigned int));
    cudaMalloc(&d_offsets, n * sizeof(int));
    cudaMalloc(&d_checksum, SEGMENTS * sizeof(unsigned int));
    cudaMemcpy(d_words, words.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, offsets.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    segment_xor_warp<<<(SEGMENTS + WARPS - 1) / WARPS, 32 * WARPS>>>(d_words, d_offsets, d_checksum);
    cudaMemcpy(checksum.data(), d_checksum, SEGMENTS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    FILE* g = fopen("data/checksum.bin", "wb");
    fwrite(checksum.data(), sizeof(unsigned int), SEGMENTS, g);
    fclose(g);
    cudaFree(d_words); cudaFree(d_offsets); cudaFree(d_checksum);
}
