#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Terms {
    double barrier, strike, volatility, dt;
};

static void check(cudaError_t status, int line) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check((call), __LINE__)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

static void writeFile(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), 1, bytes, file) != bytes || fclose(file) != 0) exit(1);
}

// Distance of a price to the barrier in log terms, 0 at or below it.
__device__ __forceinline__ double gapOf(float price, double barrier) { return fmax(log(price / barrier), 0.0); }

__device__ __forceinline__ double staysAbove(double before, double after, const Terms& t) {
    if (before <= 0.0 || after <= 0.0) return 0.0;
    return -expm1(-2.0 * before * after / (t.volatility * t.volatility * t.dt));
}

constexpr int WARPS = 8;

__global__ void survive(const float* __restrict__ prices, float* __restrict__ survival, double* __restrict__ weighted,
                        Terms t, int paths, int dates) {
    const int lane = threadIdx.x, path = blockIdx.x * WARPS + threadIdx.y;
    if (path >= paths) return;
    const float* row = prices + static_cast<size_t>(path) * dates;
    double product = 1.0;
    for (int first = 0; first < dates - 1; first += 32) {
        const int k = first + lane;
        if (k < dates - 1) product *= staysAbove(gapOf(row[k], t.barrier), gapOf(row[k + 1], t.barrier), t);
    }
    for (int step = 16; step > 0; step /= 2) product *= __shfl_xor_sync(0xffffffffu, product, step);
    if (lane == 0) {
        survival[path] = static_cast<float>(product);
        weighted[path] = product * fmax(row[dates - 1] - t.strike, 0.0);
    }
}

// One block, so that the order of the sum is always the same.
__global__ void average(const double* __restrict__ weighted, double* value, int paths) {
    __shared__ double sums[512];
    double sum = 0.0;
    for (int i = threadIdx.x; i < paths; i += 512) sum += weighted[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 256; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *value = sums[0] / paths;
}

int main() {
    int sizes[2];
    Terms terms;
    readFile("data/sizes.bin", sizes, sizeof sizes);
    readFile("data/terms.bin", &terms, sizeof terms);
    const int paths = sizes[0], dates = sizes[1];
    if (paths < 1 || paths > 500000 || dates < 2 || dates > 256) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<float> prices(static_cast<size_t>(paths) * dates);
    readFile("data/prices.bin", prices.data(), prices.size() * sizeof(float));
    float *dPrices, *survival;
    double *weighted, *value;
    CHECK(cudaMalloc(&dPrices, prices.size() * sizeof(float)));
    CHECK(cudaMalloc(&survival, paths * sizeof(float)));
    CHECK(cudaMalloc(&weighted, paths * sizeof(double)));
    CHECK(cudaMalloc(&value, sizeof(double)));
    CHECK(cudaMemcpy(dPrices, prices.data(), prices.size() * sizeof(float), cudaMemcpyHostToDevice));
    survive<<<(paths + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(dPrices, survival, weighted, terms, paths, dates);
    average<<<1, 512>>>(weighted, value, paths);
    CHECK(cudaGetLastError());
    writeFile("data/survival.bin", survival, paths * sizeof(float));
    writeFile("data/value.bin", value, sizeof(double));
    for (void* pointer : {(void*)dPrices, (void*)survival, (void*)weighted, (void*)value}) CHECK(cudaFree(pointer));
    return 0;
}
