#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSamples = 1 << 24;
constexpr int kMaxRadius = 64;
constexpr int kThreads = 256;

__constant__ float constTaps[2 * kMaxRadius + 1];

__global__ void convolve(const float* __restrict__ signal, float* __restrict__ filtered, int n, int radius) {
    extern __shared__ float window[];  // kThreads + 2 * radius samples
    const int first = static_cast<int>(blockIdx.x) * kThreads - radius;
    for (int k = threadIdx.x; k < kThreads + 2 * radius; k += kThreads) {
        window[k] = signal[min(max(first + k, 0), n - 1)];
    }
    __syncthreads();

    const int i = blockIdx.x * kThreads + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; ++k) {
        // signal index i + radius - k lies at window position threadIdx.x + 2 * radius - k
        sum += constTaps[k] * window[threadIdx.x + 2 * radius - k];
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

template <typename T>
static std::vector<T> readVector(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        fprintf(stderr, "%s: missing, or not %zu values\n", path, count);
        exit(1);
    }
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    return values;
}

int main() {
    const std::vector<int> sizes = readVector<int>("data/sizes.bin", 2);
    const int n = sizes[0], radius = sizes[1];
    if (n < 1 || n > kMaxSamples || radius < 1 || radius > kMaxRadius) {
        fprintf(stderr, "data/sizes.bin: %d samples and radius %d are out of range\n", n, radius);
        return 1;
    }
    std::vector<float> signal = readVector<float>("data/signal.bin", n);
    const std::vector<float> taps = readVector<float>("data/taps.bin", 2 * radius + 1);
    const size_t bytes = signal.size() * sizeof(float);

    float *dSignal = nullptr, *dFiltered = nullptr;
    check(cudaMemcpyToSymbol(constTaps, taps.data(), taps.size() * sizeof(float)), "copy taps");
    check(cudaMalloc(&dSignal, bytes), "allocate the signal");
    check(cudaMalloc(&dFiltered, bytes), "allocate the result");
    check(cudaMemcpy(dSignal, signal.data(), bytes, cudaMemcpyHostToDevice), "copy the signal");

    const int blocks = (n + kThreads - 1) / kThreads;
    const size_t sharedBytes = (kThreads + 2 * radius) * sizeof(float);
    convolve<<<blocks, kThreads, sharedBytes>>>(dSignal, dFiltered, n, radius);
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
