#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kSamples = 500009;
constexpr int kRadius = 32;
constexpr int kTaps = 2 * kRadius + 1;
constexpr int kThreads = 256;

__constant__ float constTaps[kTaps];

__global__ void convolve(const float* __restrict__ signal, float* __restrict__ filtered, int n) {
    extern __shared__ float window[];  // blockDim.x + 2 * kRadius samples
    int first = blockIdx.x * blockDim.x - kRadius;
    for (int k = threadIdx.x; k < blockDim.x + 2 * kRadius; k += blockDim.x) {
        window[k] = signal[min(max(first + k, 0), n - 1)];
    }
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
        // signal index i + kRadius - k lies at window position threadIdx.x + 2 * kRadius - k
        sum += constTaps[k] * window[threadIdx.x + 2 * kRadius - k];
    }
    if (i < n) {
        filtered[i] = sum;
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
        exit(1);
    }
}

static std::vector<float> readVector(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(float)) {
        fprintf(stderr, "%s: missing, or not %zu floats\n", path, count);
        exit(1);
    }
    std::vector<float> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(float))) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    return values;
}

int main() {
    std::vector<float> signal = readVector("data/signal.bin", kSamples);
    std::vector<float> taps = readVector("data/taps.bin", kTaps);
    const size_t bytes = kSamples * sizeof(float);

    float *dSignal = nullptr, *dFiltered = nullptr;
    check(cudaMemcpyToSymbol(constTaps, taps.data(), kTaps * sizeof(float)), "copy taps");
    check(cudaMalloc(&dSignal, bytes), "allocate the signal");
    check(cudaMalloc(&dFiltered, bytes), "allocate the result");
    check(cudaMemcpy(dSignal, signal.data(), bytes, cudaMemcpyHostToDevice), "copy the signal");

    const int blocks = (kSamples + kThreads - 1) / kThreads;
    const size_t sharedBytes = (kThreads + 2 * kRadius) * sizeof(float);
    convolve<<<blocks, kThreads, sharedBytes>>>(dSignal, dFiltered, kSamples);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(signal.data(), dFiltered, bytes, cudaMemcpyDeviceToHost), "copy the result");
    check(cudaFree(dSignal), "free");
    check(cudaFree(dFiltered), "free");

    std::ofstream out("data/filtered.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(signal.data()), bytes);
    out.close();
    if (!out) {
        fprintf(stderr, "cannot write data/filtered.bin\n");
        return 1;
    }
    return 0;
}
