#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void cuda_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}

bool load_file(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool save_file(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int CHANNELS = 8;
constexpr int SAMPLES = 3000;

// A block per channel; each thread follows whole chains t, t + D, t + 2D ... and keeps y in a register.
__global__ void comb_chains(const float* __restrict__ x, const int* __restrict__ delay,
                            const float* __restrict__ gain, float* __restrict__ y) {
    const int d = delay[blockIdx.x];
    const float g = gain[blockIdx.x];
    const size_t base = (size_t)blockIdx.x * SAMPLES;
    for (int start = threadIdx.x; start < d; start += blockDim.x) {
        float value = 0.0f;
        for (int t = start; t < SAMPLES; t += d) {
            value = fmaf(g, value, x[base + t]);
            y[base + t] = value;
        }
    }
}

int main() {
    std::vector<float> h_x(CHANNELS * SAMPLES);
    std::vector<int> h_delay(CHANNELS);
    std::vector<float> h_gain(CHANNELS);
    std::vector<float> h_y(CHANNELS * SAMPLES);
    if (!load_file("data/x.bin", h_x.data(), sizeof(float) * CHANNELS * SAMPLES) ||
        !load_file("data/delay.bin", h_delay.data(), sizeof(int) * CHANNELS) ||
        !load_file("data/gain.bin", h_gain.data(), sizeof(float) * CHANNELS)) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float* d_x = nullptr;
    int* d_delay = nullptr;
    float* d_gain = nullptr;
    float* d_y = nullptr;
    cuda_ok(cudaMalloc(&d_x, sizeof(float) * CHANNELS * SAMPLES), "cudaMalloc x");
    cuda_ok(cudaMalloc(&d_delay, sizeof(int) * CHANNELS), "cudaMalloc delay");
    cuda_ok(cudaMalloc(&d_gain, sizeof(float) * CHANNELS), "cudaMalloc gain");
    cuda_ok(cudaMalloc(&d_y, sizeof(float) * CHANNELS * SAMPLES), "cudaMalloc y");
    cuda_ok(cudaMemcpy(d_x, h_x.data(), sizeof(float) * CHANNELS * SAMPLES, cudaMemcpyHostToDevice), "copy x");
    cuda_ok(cudaMemcpy(d_delay, h_delay.data(), sizeof(int) * CHANNELS, cudaMemcpyHostToDevice), "copy delay");
    cuda_ok(cudaMemcpy(d_gain, h_gain.data(), sizeof(float) * CHANNELS, cudaMemcpyHostToDevice), "copy gain");

    comb_chains<<<CHANNELS, 128>>>(d_x, d_delay, d_gain, d_y);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(h_y.data(), d_y, sizeof(float) * CHANNELS * SAMPLES, cudaMemcpyDeviceToHost), "copy y");

    if (!save_file("data/y.bin", h_y.data(), sizeof(float) * CHANNELS * SAMPLES)) return 1;
    cudaFree(d_x);
    cudaFree(d_delay);
    cudaFree(d_gain);
    cudaFree(d_y);
    return 0;
}
