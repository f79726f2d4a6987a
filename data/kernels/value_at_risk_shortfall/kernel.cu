#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopIf(bool wrong, const char* message) {
    if (!wrong) return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void ok(cudaError_t status) { stopIf(status != cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static void readFile(const char* path, std::vector<T>& values) {
    FILE* file = fopen(path, "rb");
    stopIf(!file || fread(values.data(), sizeof(T), values.size(), file) != values.size(), path);
    stopIf(fgetc(file) != EOF, path);
    fclose(file);
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    ok(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    stopIf(!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0, path);
}

constexpr int THREADS = 256;

// Unsigned integers in the order of the floats; -0 counts as 0.
__device__ __forceinline__ uint32_t sortable(float value) {
    const uint32_t bits = __float_as_uint(value + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float valueOf(uint32_t key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

__global__ void tailRisk(const float* __restrict__ profits, float* valueAtRisk, double* shortfall, int scenarios,
                         int rank) {
    __shared__ int counts[256];
    __shared__ uint32_t chosen;
    __shared__ int before;  // values below the chosen prefix
    __shared__ double sums[THREADS];
    const float* mine = profits + static_cast<size_t>(blockIdx.x) * scenarios;
    uint32_t prefix = 0;
    int wanted = rank - 1;  // counted from 0 among those that share the prefix
    for (int shift = 24; shift >= 0; shift -= 8) {
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < scenarios; i += THREADS) {
            const uint32_t key = sortable(mine[i]);
            if (shift == 24 || key >> (shift + 8) == prefix) atomicAdd(&counts[key >> shift & 255], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int sum = 0, digit = 0;
            while (sum + counts[digit] <= wanted) sum += counts[digit++];
            chosen = digit;
            before = sum;
        }
        __syncthreads();
        prefix = prefix << 8 | chosen;
        wanted -= before;
    }
    double sum = 0.0;
    for (int i = threadIdx.x; i < scenarios; i += THREADS) {
        if (sortable(mine[i]) < prefix) sum += mine[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        // `wanted` values equal to the quantile stand before it, and it counts itself.
        const float quantile = valueOf(prefix);
        valueAtRisk[blockIdx.x] = 0.0f - quantile;
        shortfall[blockIdx.x] = -(sums[0] + static_cast<double>(quantile) * (wanted + 1)) / rank;
    }
}

int main() {
    std::vector<int> sizes(3);
    readFile("data/sizes.bin", sizes);
    const int portfolios = sizes[0], scenarios = sizes[1], rank = sizes[2];
    stopIf(portfolios < 1 || portfolios > 65535, "portfolios out of range");
    stopIf(scenarios < 1 || scenarios > 1000000, "scenarios out of range");
    stopIf(rank < 1 || rank > scenarios, "rank out of range");
    std::vector<float> profits(static_cast<size_t>(portfolios) * scenarios);
    readFile("data/profits.bin", profits);
    float *dProfits, *dRisk;
    double* dShortfall;
    ok(cudaMalloc(&dProfits, profits.size() * sizeof(float)));
    ok(cudaMalloc(&dRisk, portfolios * sizeof(float)));
    ok(cudaMalloc(&dShortfall, portfolios * sizeof(double)));
    ok(cudaMemcpy(dProfits, profits.data(), profits.size() * sizeof(float), cudaMemcpyHostToDevice));
    tailRisk<<<portfolios, THREADS>>>(dProfits, dRisk, dShortfall, scenarios, rank);
    ok(cudaGetLastError());
    writeFile("data/value_at_risk.bin", dRisk, portfolios);
    writeFile("data/shortfall.bin", dShortfall, portfolios);
    ok(cudaFree(dProfits));
    ok(cudaFree(dRisk));
    ok(cudaFree(dShortfall));
    return 0;
}
