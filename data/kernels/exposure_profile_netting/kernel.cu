#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 256, MAX_TRADES = 64;

// What the counterparty owes on a path (x) and what is owed to it (y).
__device__ float2 exposureOf(const float* values, const uint8_t* agreement, int trades, int paths, int path) {
    float together = 0.0f, x = 0.0f, y = 0.0f;
    for (int t = 0; t < trades; ++t) {
        const float value = values[static_cast<size_t>(t) * paths + path];
        if (agreement[t]) {
            together += value;
        } else {
            x += fmaxf(value, 0.0f);
            y += fmaxf(-value, 0.0f);
        }
    }
    return make_float2(x + fmaxf(together, 0.0f), y + fmaxf(-together, 0.0f));
}

__device__ double blockSum(double value) {
    __shared__ double sums[THREADS];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = sums[0];
    __syncthreads();
    return sum;
}

// One block a date. Exposures are not negative, so their bits are in their order; the rank-th is found bit by bit.
__global__ void profile(const float* __restrict__ values, const uint8_t* __restrict__ agreements,
                        double* __restrict__ expected, float* __restrict__ potential, int paths, int trades,
                        int rank) {
    __shared__ uint8_t agreement[MAX_TRADES];
    __shared__ int below;
    if (threadIdx.x < trades) agreement[threadIdx.x] = agreements[threadIdx.x];
    __syncthreads();
    const float* mine = values + static_cast<size_t>(blockIdx.x) * trades * paths;
    double owing = 0.0, owed = 0.0;
    for (int p = threadIdx.x; p < paths; p += THREADS) {
        const float2 e = exposureOf(mine, agreement, trades, paths, p);
        owing += e.x;
        owed += e.y;
    }
    owing = blockSum(owing);
    owed = blockSum(owed);
    unsigned answer = 0;  // the largest bit pattern with fewer than `rank` exposures below it
    for (int bit = 30; bit >= 0; --bit) {
        const unsigned tried = answer | 1u << bit;
        if (threadIdx.x == 0) below = 0;
        __syncthreads();
        int count = 0;
        for (int p = threadIdx.x; p < paths; p += THREADS) {
            count += __float_as_uint(exposureOf(mine, agreement, trades, paths, p).x) < tried;
        }
        count = __reduce_add_sync(0xffffffffu, count);
        if (threadIdx.x % 32 == 0) atomicAdd(&below, count);
        __syncthreads();
        if (below < rank) answer = tried;
        __syncthreads();  // below is cleared next
    }
    if (threadIdx.x == 0) {
        expected[2 * blockIdx.x] = owing / paths;
        expected[2 * blockIdx.x + 1] = owed / paths;
        potential[blockIdx.x] = __uint_as_float(answer);
    }
}

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static void writeFile(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) exit(1);
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 4);
    const int dates = sizes[0], paths = sizes[1], trades = sizes[2], rank = sizes[3];
    if (dates < 1 || dates > 4096 || paths < 1 || paths > 100000 || trades < 1 || trades > MAX_TRADES || rank < 1 ||
        rank > paths) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto values = readFile<float>("data/values.bin", static_cast<size_t>(dates) * trades * paths);
    const auto agreement = readFile<uint8_t>("data/agreement.bin", trades);
    float *dValues, *potential;
    uint8_t* dAgreement;
    double* expected;
    CHECK(cudaMalloc(&dValues, values.size() * sizeof(float)));
    CHECK(cudaMalloc(&dAgreement, trades));
    CHECK(cudaMalloc(&potential, dates * sizeof(float)));
    CHECK(cudaMalloc(&expected, 2 * dates * sizeof(double)));
    CHECK(cudaMemcpy(dValues, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dAgreement, agreement.data(), trades, cudaMemcpyHostToDevice));
    profile<<<dates, THREADS>>>(dValues, dAgreement, expected, potential, paths, trades, rank);
    CHECK(cudaGetLastError());
    writeFile("data/expected.bin", expected, 2 * static_cast<size_t>(dates));
    writeFile("data/potential.bin", potential, dates);
    CHECK(cudaFree(dValues));
    CHECK(cudaFree(dAgreement));
    CHECK(cudaFree(potential));
    CHECK(cudaFree(expected));
    return 0;
}
