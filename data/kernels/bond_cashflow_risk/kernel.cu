#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(expression)                                                                        \
    do {                                                                                         \
        cudaError_t outcome = (expression);                                                      \
        if (outcome != cudaSuccess) {                                                            \
            fprintf(stderr, "%s (line %d)\n", cudaGetErrorString(outcome), __LINE__);            \
            exit(EXIT_FAILURE);                                                                  \
        }                                                                                        \
    } while (0)

static void fail(const char* path) {
    fprintf(stderr, "bad or missing file or size: %s\n", path);
    exit(EXIT_FAILURE);
}

// Reads `count` values and copies them to the device.
template <typename T>
static T* upload(const char* path, size_t count, std::vector<T>& host) {
    host.resize(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(host.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) fail(path);
    fclose(file);
    T* device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void download(const char* path, double* device, size_t count) {
    std::vector<double> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), sizeof(double), count, file) != count || fclose(file) != 0) fail(path);
    CHECK(cudaFree(device));
}

constexpr int WARPS = 8;

__global__ void riskOfBonds(const int* __restrict__ offsets, const float* __restrict__ times,
                            const float* __restrict__ amounts, const double* __restrict__ yields,
                            double* prices, double* durations, double* convexities, int bonds) {
    const int bond = blockIdx.x * WARPS + threadIdx.y;
    if (bond >= bonds) return;  // the whole warp
    const double yield = yields[bond];
    double price = 0.0, first = 0.0, second = 0.0;
    for (int i = offsets[bond] + threadIdx.x; i < offsets[bond + 1]; i += 32) {
        const double time = times[i], present = amounts[i] * exp(-yield * time);
        price += present;
        first += present * time;
        second += present * time * time;
    }
    for (int step = 16; step > 0; step /= 2) {
        price += __shfl_down_sync(0xffffffffu, price, step);
        first += __shfl_down_sync(0xffffffffu, first, step);
        second += __shfl_down_sync(0xffffffffu, second, step);
    }
    if (threadIdx.x == 0) {
        prices[bond] = price;
        durations[bond] = price > 0.0 ? first / price : 0.0;
        convexities[bond] = price > 0.0 ? second / price : 0.0;
    }
}

int main() {
    std::vector<int> sizes, offsets;
    std::vector<float> payments;
    std::vector<double> yields;
    CHECK(cudaFree(upload("data/sizes.bin", 2, sizes)));
    const int bonds = sizes[0], flows = sizes[1];
    if (bonds < 1 || bonds > 200000 || flows < 1 || flows > 1000000) fail("data/sizes.bin");
    int* dOffsets = upload("data/offsets.bin", bonds + 1, offsets);
    if (offsets[0] != 0 || offsets[bonds] != flows) fail("data/offsets.bin");
    float* dTimes = upload("data/times.bin", flows, payments);
    float* dAmounts = upload("data/amounts.bin", flows, payments);
    double* dYields = upload("data/yields.bin", bonds, yields);
    double* results[3];
    for (double*& result : results) CHECK(cudaMalloc(&result, bonds * sizeof(double)));
    riskOfBonds<<<(bonds + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(dOffsets, dTimes, dAmounts, dYields, results[0],
                                                                  results[1], results[2], bonds);
    CHECK(cudaGetLastError());
    download("data/prices.bin", results[0], bonds);
    download("data/durations.bin", results[1], bonds);
    download("data/convexities.bin", results[2], bonds);
    CHECK(cudaFree(dOffsets));
    CHECK(cudaFree(dTimes));
    CHECK(cudaFree(dAmounts));
    CHECK(cudaFree(dYields));
    return 0;
}
