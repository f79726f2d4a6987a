#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxSamples = 1 << 23, kMaxWindow = 4096, kMaxHop = 4096;
constexpr int kThreads = 256, kFramesPerBlock = kThreads / 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void features(const int16_t* __restrict__ x, int* __restrict__ crossings, long long* __restrict__ energy,
                         int* __restrict__ peak, int frames, int window, int hop) {
    const int frame = blockIdx.x * kFramesPerBlock + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (frame >= frames) return;
    const int16_t* samples = x + static_cast<size_t>(frame) * hop;
    int changes = 0, largest = 0;
    long long squares = 0;
    for (int t = lane; t < window; t += 32) {
        const int value = samples[t];
        if (t > 0) changes += (samples[t - 1] < 0) != (value < 0);
        largest = max(largest, abs(value));
        squares += value * value;
    }
    changes = __reduce_add_sync(kAll, changes);
    largest = __reduce_max_sync(kAll, largest);
    for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(kAll, squares, step);
    if (lane == 0) {
        crossings[frame] = changes;
        peak[frame] = largest;
        energy[frame] = squares;
    }
}

static void fail(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail("CUDA", cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path, "has an unexpected length");
    fclose(file);
}

template <typename T>
static void save(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fail(path, "cannot be written");
    }
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], window = sizes[1], hop = sizes[2];
    if (n < 2 || n > kMaxSamples || window < 2 || window > kMaxWindow || window > n || hop < 1 || hop > kMaxHop) {
        fail("data/sizes.bin", "n, window or hop is out of range");
    }
    std::vector<int16_t> x(n);
    readFile("data/x.bin", x.data(), n * sizeof(int16_t));
    const int frames = (n - window) / hop + 1;

    int16_t* dX;
    int *dCrossings, *dPeak;
    long long* dEnergy;
    check(cudaMalloc(&dX, n * sizeof(int16_t)));
    check(cudaMalloc(&dCrossings, frames * sizeof(int)));
    check(cudaMalloc(&dPeak, frames * sizeof(int)));
    check(cudaMalloc(&dEnergy, frames * sizeof(long long)));
    check(cudaMemcpy(dX, x.data(), n * sizeof(int16_t), cudaMemcpyHostToDevice));
    const int blocks = (frames + kFramesPerBlock - 1) / kFramesPerBlock;
    features<<<blocks, kThreads>>>(dX, dCrossings, dEnergy, dPeak, frames, window, hop);
    check(cudaGetLastError());
    save("data/crossings.bin", dCrossings, frames);
    save("data/energy.bin", dEnergy, frames);
    save("data/peak.bin", dPeak, frames);
    check(cudaFree(dX));
    check(cudaFree(dCrossings));
    check(cudaFree(dPeak));
    check(cudaFree(dEnergy));
    return 0;
}
