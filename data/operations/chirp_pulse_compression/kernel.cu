#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(x)                                                                              \
    if ((x) != cudaSuccess) {                                                               \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1);                                                                            \
    }

#define PULSES 6
#define SAMPLES 600

#define M 128
#define TILE 256
#define DELAYS (SAMPLES - 127)

// The chirp and the echo samples of a tile of delays are kept in shared memory.
__global__ void matched_filter(const float2* __restrict__ echo, float* __restrict__ power) {
    __shared__ float2 chirp[M];
    __shared__ float2 window[TILE + M];
    const int start = blockIdx.x * TILE;
    const float2* e = echo + (size_t)blockIdx.y * SAMPLES;
    if (threadIdx.x < M) {
        float a = ((int)threadIdx.x - 64) * ((int)threadIdx.x - 64) % 256 / 128.0f;
        chirp[threadIdx.x] = make_float2(cospif(a), sinpif(a));
    }
    for (int i = threadIdx.x; i < TILE + M - 1 && start + i < SAMPLES; i += TILE) window[i] = e[start + i];
    __syncthreads();
    int d = start + threadIdx.x;
    if (d >= DELAYS) return;
    float re = 0.0f, im = 0.0f;
    for (int j = 0; j < M; ++j) {
        float2 a = window[threadIdx.x + j];
        float2 s = chirp[j];
        re = fmaf(a.x, s.x, fmaf(a.y, s.y, re));
        im = fmaf(a.y, s.x, fmaf(-a.x, s.y, im));
    }
    power[(size_t)blockIdx.y * DELAYS + d] = (re * re + im * im) / (M * M);
}

int main() {
    const size_t count_echo = PULSES * SAMPLES * 2;
    const size_t n_power = PULSES * DELAYS;
    const size_t echo_bytes = count_echo * sizeof(float);
    const size_t power_bytes = n_power * sizeof(float);
    float* h_echo = (float*)malloc(echo_bytes);
    float* h_power = (float*)malloc(power_bytes);

    FILE* file_echo = fopen("data/echo.bin", "rb");
    if (!file_echo || fread(h_echo, sizeof(float), count_echo, file_echo) != (size_t)count_echo) {
        fprintf(stderr, "could not open data/echo.bin\n");
        return 1;
    }
    fclose(file_echo);

    float* dev_echo;
    TRY(cudaMalloc(&dev_echo, echo_bytes));
    float* dev_power;
    TRY(cudaMalloc(&dev_power, power_bytes));
    TRY(cudaMemcpy(dev_echo, h_echo, echo_bytes, cudaMemcpyHostToDevice));

    dim3 grid((DELAYS + TILE - 1) / TILE, PULSES);
    matched_filter<<<grid, TILE>>>((const float2*)dev_echo, dev_power);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());

    TRY(cudaMemcpy(h_power, dev_power, power_bytes, cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/power.bin", "wb");
    if (!out || fwrite(h_power, sizeof(float), n_power, out) != (size_t)(n_power)) {
        fprintf(stderr, "cannot write data/power.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(dev_echo);
    cudaFree(dev_power);
    free(h_echo);
    free(h_power);
    return 0;
}
