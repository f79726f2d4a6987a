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

bool readAll(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool writeAll(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static const int CHANNELS = 10;
static const int SAMPLES = 2000;
const int PER_THREAD = 8;

// A thread slides a window of four samples over eight neighbouring results; the weights are made once a block.
__global__ void delay_windows(const float* __restrict__ x, const float* __restrict__ delay, float* __restrict__ y) {
    __shared__ float h[4];
    __shared__ int whole;
    const int c = blockIdx.y;
    if (threadIdx.x == 0) {
        float value = delay[c];
        whole = (int)value;
        float q = value - whole;
        float outer = (q - 1.0f) * (q - 2.0f), inner = (q + 1.0f) * q;
        h[0] = -q * outer / 6.0f;
        h[1] = 0.5f * (q + 1.0f) * outer;
        h[2] = -0.5f * inner * (q - 2.0f);
        h[3] = inner * (q - 1.0f) / 6.0f;
    }
    __syncthreads();
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    const float* in = x + (size_t)c * SAMPLES;
    float* out = y + (size_t)c * SAMPLES;
    int s = first - whole;
    float w1 = s >= 0 && first < SAMPLES ? in[s] : 0.0f;
    float w2 = s >= 1 && first < SAMPLES ? in[s - 1] : 0.0f;
    float w3 = s >= 2 && first < SAMPLES ? in[s - 2] : 0.0f;
    for (int t = first; t < min(first + PER_THREAD, SAMPLES); ++t) {
        int next = t - whole + 1;
        float w0 = next >= 0 ? in[next] : 0.0f;
        out[t] = h[0] * w0 + h[1] * w1 + h[2] * w2 + h[3] * w3;
        w3 = w2;
        w2 = w1;
        w1 = w0;
    }
}

int main() {
    std::vector<float> h_x(CHANNELS * SAMPLES);
    std::vector<float> h_delay(CHANNELS);
    std::vector<float> h_y(CHANNELS * SAMPLES);
    if (!readAll("data/x.bin", h_x.data(), CHANNELS * SAMPLES * sizeof(float)) ||
        !readAll("data/delay.bin", h_delay.data(), CHANNELS * sizeof(float))) {
        fprintf(stderr, "cannot read the input files\n");
        return 1;
    }

    float* dev_x = nullptr;
    float* dev_delay = nullptr;
    float* dev_y = nullptr;
    cuda_ok(cudaMalloc(&dev_x, CHANNELS * SAMPLES * sizeof(float)), "cudaMalloc x");
    cuda_ok(cudaMalloc(&dev_delay, CHANNELS * sizeof(float)), "cudaMalloc");
    cuda_ok(cudaMalloc(&dev_y, CHANNELS * SAMPLES * sizeof(float)), "cudaMalloc");
    cuda_ok(cudaMemcpy(dev_x, h_x.data(), CHANNELS * SAMPLES * sizeof(float), cudaMemcpyHostToDevice), "copy x");
    cuda_ok(cudaMemcpy(dev_delay, h_delay.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice), "copy delay");

    dim3 grid((SAMPLES + 128 * PER_THREAD - 1) / 128 * PER_THREAD, CHANNELS);
    delay_windows<<<grid, 128>>>(dev_x, dev_delay, dev_y);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(h_y.data(), dev_y, CHANNELS * SAMPLES * sizeof(float), cudaMemcpyDeviceToHost), "copy y");

    if (!writeAll("data/y.bin", h_y.data(), CHANNELS * SAMPLES * sizeof(float))) return 1;
    cudaFree(dev_x);
    cudaFree(dev_delay);
    cudaFree(dev_y);
    return 0;
}
