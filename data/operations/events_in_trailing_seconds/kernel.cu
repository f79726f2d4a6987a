#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define SOURCES 40
#define EVENTS 400
#define BLOCK 128
#define SPAN 64
#define PIECES ((EVENTS + SPAN - 1) / SPAN)

// A thread follows 64 events of one source with two moving ends; double sums make the subtraction harmless.
__global__ void trailing_events_sliding(const float* __restrict__ time, const float* __restrict__ amount,
                                        int* recent, float* volume) {
    int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= SOURCES * PIECES) return;
    size_t base = (size_t)(k / PIECES) * EVENTS;
    const float* t = time + base;
    const float* a = amount + base;
    int begin = (k % PIECES) * SPAN;
    int end = min(begin + SPAN, EVENTS);

    // First event of the window of 'begin', by bisection.
    int lo = 0, hi = begin;
    float border = t[begin] - 8.0f;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (t[mid] > border) hi = mid;
        else lo = mid + 1;
    }
    double sum = 0.0;
    for (int j = lo; j < begin; ++j) sum += a[j];
    for (int i = begin; i < end; ++i) {
        sum += a[i];
        border = t[i] - 8.0f;
        while (t[lo] <= border) sum -= a[lo++];
        recent[base + i] = i - lo + 1;
        volume[base + i] = (float)sum;
    }
}

int main() {
    const size_t size = (size_t)SOURCES * EVENTS;
    std::vector<float> time(size), amount(size), volume(size);
    std::vector<int> recent(size);
    std::ifstream f0("data/time.bin", std::ios::binary);
    if (!f0.read((char*)time.data(), size * sizeof(float))) return 1;
    std::ifstream f1("data/amount.bin", std::ios::binary);
    if (!f1.read((char*)amount.data(), size * sizeof(float))) return 1;
    float *dTime, *dAmount, *dVolume;
    int* dRecent;
    cudaMalloc(&dTime, size * sizeof(float));
    cudaMalloc(&dAmount, size * sizeof(float));
    cudaMalloc(&dRecent, size * sizeof(int));
    cudaMalloc(&dVolume, size * sizeof(float));
    cudaMemcpy(dTime, time.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dAmount, amount.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    int blocks = (SOURCES * PIECES + BLOCK - 1) / BLOCK;
    trailing_events_sliding<<<blocks, BLOCK>>>(dTime, dAmount, dRecent, dVolume);
    cudaMemcpy(recent.data(), dRecent, size * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(volume.data(), dVolume, size * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/recent.bin", std::ios::binary).write((char*)recent.data(), size * sizeof(int));
    std::ofstream("data/volume.bin", std::ios::binary).write((char*)volume.data(), size * sizeof(float));
    return 0;
}
