#include <cstdio>
#include <cuda_runtime.h>

const int VOICES = 10;
const int SAMPLES = 2000;

__global__ void tremolo(const float* dry, const float* frequency, const float* depth, float* wet) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int v = blockIdx.y;
    if (t >= SAMPLES) return;
    float cycles = frequency[v] * t;
    cycles -= floorf(cycles);
    float lfo = 0.5f * (1.0f - cosf(6.28318531f * cycles));
    wet[v * SAMPLES + t] = dry[v * SAMPLES + t] * (1.0f - depth[v] * lfo);
}

int main() {
    const int count_dry = VOICES * SAMPLES;
    float* dry = nullptr;
    float* frequency = nullptr;
    float* depth = nullptr;
    float* wet = nullptr;
    cudaMallocManaged(&dry, count_dry * sizeof(float));
    cudaMallocManaged(&frequency, VOICES * sizeof(float));
    cudaMallocManaged(&depth, VOICES * sizeof(float));
    cudaMallocManaged(&wet, count_dry * sizeof(float));

    FILE* in_dry = fopen("data/dry.bin", "rb");
    if (!in_dry || fread(dry, sizeof(float), count_dry, in_dry) != (size_t)(count_dry)) {
        fprintf(stderr, "data/dry.bin: read error\n");
        return 1;
    }
    fclose(in_dry);
    FILE* in_frequency = fopen("data/frequency.bin", "rb");
    if (!in_frequency || fread(frequency, sizeof(float), VOICES, in_frequency) != (size_t)(VOICES)) {
        fprintf(stderr, "data/frequency.bin: read error\n");
        return 1;
    }
    fclose(in_frequency);
    FILE* in_depth = fopen("data/depth.bin", "rb");
    if (!in_depth || fread(depth, sizeof(float), VOICES, in_depth) != (size_t)(VOICES)) {
        fprintf(stderr, "data/depth.bin: read error\n");
        return 1;
    }
    fclose(in_depth);

    dim3 block(256);
    dim3 grid((SAMPLES + 255) / 256, VOICES);
    tremolo<<<grid, block>>>(dry, frequency, depth, wet);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/wet.bin", "wb");
    if (!out) return 1;
    fwrite(wet, sizeof(float), count_dry, out);
    fclose(out);

    cudaFree(dry);
    cudaFree(frequency);
    cudaFree(depth);
    cudaFree(wet);
    return 0;
}
