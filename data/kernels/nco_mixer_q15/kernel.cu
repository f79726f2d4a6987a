#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxChannels = 65535, kMaxLength = 1 << 20, kEntries = 1024;
constexpr int kThreads = 256, kPerThread = 8;

__global__ void mix(const int16_t* __restrict__ x, const uint32_t* __restrict__ step, const int16_t* __restrict__ sine,
                    short2* __restrict__ baseband, int n) {
    __shared__ int16_t table[kEntries];
    for (int e = threadIdx.x; e < kEntries; e += kThreads) table[e] = sine[e];
    __syncthreads();
    const size_t channel = static_cast<size_t>(blockIdx.y) * n;
    const uint32_t increment = step[blockIdx.y];
    const int first = blockIdx.x * kThreads * kPerThread + threadIdx.x;
    for (int k = 0; k < kPerThread; ++k) {
        const int t = first + k * kThreads;
        if (t >= n) return;
        const uint32_t entry = (static_cast<uint32_t>(t) * increment) >> 22;
        const int sample = x[channel + t];
        const int real = (sample * table[(entry + kEntries / 4) % kEntries] + 16384) >> 15;
        const int imaginary = (-sample * table[entry] + 16384) >> 15;
        baseband[channel + t] = make_short2(static_cast<short>(real), static_cast<short>(imaginary));
    }
}

static void stop(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void gpu(cudaError_t status, const char* what) {
    if (status != cudaSuccess) stop(what, cudaGetErrorString(status));
}

template <typename T>
static T* load(const char* path, size_t count) {  // from a file to the device
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file) stop(path, "cannot be opened");
    if (fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) stop(path, "wrong length");
    fclose(file);
    T* device;
    gpu(cudaMalloc(&device, count * sizeof(T)), "cudaMalloc");
    gpu(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice), "upload");
    return device;
}

int main() {
    int sizes[2];
    int* dSizes = load<int>("data/sizes.bin", 2);
    gpu(cudaMemcpy(sizes, dSizes, sizeof sizes, cudaMemcpyDeviceToHost), "download");
    const int channels = sizes[0], n = sizes[1];
    if (channels < 1 || channels > kMaxChannels || n < 1 || n > kMaxLength) stop("data/sizes.bin", "out of range");
    const size_t count = static_cast<size_t>(channels) * n;
    int16_t* dX = load<int16_t>("data/x.bin", count);
    uint32_t* dStep = load<uint32_t>("data/step.bin", channels);
    int16_t* dSine = load<int16_t>("data/sine.bin", kEntries);
    short2* dBaseband;
    gpu(cudaMalloc(&dBaseband, count * sizeof(short2)), "cudaMalloc");

    const int perBlock = kThreads * kPerThread;
    mix<<<dim3((n + perBlock - 1) / perBlock, channels), kThreads>>>(dX, dStep, dSine, dBaseband, n);
    gpu(cudaGetLastError(), "launch");
    std::vector<short2> baseband(count);
    gpu(cudaMemcpy(baseband.data(), dBaseband, count * sizeof(short2), cudaMemcpyDeviceToHost), "download");
    FILE* out = fopen("data/baseband.bin", "wb");
    if (!out || fwrite(baseband.data(), sizeof(short2), count, out) != count || fclose(out) != 0) {
        stop("data/baseband.bin", "cannot be written");
    }
    gpu(cudaFree(dSizes), "cudaFree");
    gpu(cudaFree(dX), "cudaFree");
    gpu(cudaFree(dStep), "cudaFree");
    gpu(cudaFree(dSine), "cudaFree");
    gpu(cudaFree(dBaseband), "cudaFree");
    return 0;
}
