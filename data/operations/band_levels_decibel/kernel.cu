#include <cstdio>
#include <cuda_runtime.h>

const int FRAMES = 120;
const int BINS = 129;
const int BANDS = 10;
const int WARPS = 8;

// One block per frame, its warps take the bands in turn and read the bins together.
__global__ void frame_bands(const float* __restrict__ power, const int* __restrict__ edge,
        float* __restrict__ level) {
    const float* p = power + (size_t)blockIdx.x * BINS;
    int lane = threadIdx.x % 32;
    for (int j = threadIdx.x / 32; j < BANDS; j += WARPS) {
        int begin = edge[j], width = edge[j + 1] - begin;
        float sum = 0.0f;
        for (int b = lane; b < width; b += 32) sum += p[begin + b];
        for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
        if (lane == 0) {
            level[blockIdx.x * BANDS + j] = width > 0 ? 10.0f * log10f(sum / width + 1e-12f) : -120.0f;
        }
    }
}

int main() {
    const int count_power = FRAMES * BINS;
    const int count_edge = BANDS + 1;
    const int n_level = FRAMES * BANDS;
    float* power;
    int* edge;
    float* level;
    cudaMallocManaged(&power, count_power * sizeof(float));
    cudaMallocManaged(&edge, count_edge * sizeof(int));
    cudaMallocManaged(&level, n_level * sizeof(float));

    FILE* in_power = fopen("data/power.bin", "rb");
    if (!in_power || fread(power, sizeof(float), count_power, in_power) != (size_t)(count_power)) {
        fprintf(stderr, "data/power.bin: read error\n");
        return 1;
    }
    fclose(in_power);
    FILE* in_edge = fopen("data/edge.bin", "rb");
    if (!in_edge || fread(edge, sizeof(int), count_edge, in_edge) != (size_t)(count_edge)) {
        fprintf(stderr, "data/edge.bin: read error\n");
        return 1;
    }
    fclose(in_edge);

    frame_bands<<<FRAMES, WARPS * 32>>>(power, edge, level);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/level.bin", "wb");
    if (!out) return 1;
    fwrite(level, sizeof(float), n_level, out);
    fclose(out);

    cudaFree(power);
    cudaFree(edge);
    cudaFree(level);
    return 0;
}
