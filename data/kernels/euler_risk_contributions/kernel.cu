#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Gpu {
    static void check(cudaError_t status) {
        if (status == cudaSuccess) return;
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        exit(1);
    }
    static double* copyOf(const std::vector<double>& values) {
        double* device = allocate(values.size());
        check(cudaMemcpy(device, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice));
        return device;
    }
    static double* allocate(size_t count) {
        double* device = nullptr;
        check(cudaMalloc(&device, count * sizeof(double)));
        return device;
    }
};

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    size_t got = file ? fread(values.data(), sizeof(T), count, file) : 0;
    const bool more = file && fgetc(file) != EOF;
    if (file) fclose(file);
    if (got != count || more) {
        fprintf(stderr, "%s: expected exactly %zu values\n", path, count);
        exit(1);
    }
    return values;
}

static void writeArray(const char* path, const double* device, size_t count) {
    std::vector<double> values(count);
    Gpu::check(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(double), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

constexpr int THREADS = 128, MAX_ASSETS = 512;

__global__ void contribute(const double* __restrict__ covariance, const double* __restrict__ weights,
                           double* __restrict__ volatility, double* __restrict__ contributions, int assets) {
    __shared__ double row[MAX_ASSETS], sums[THREADS];
    const size_t start = static_cast<size_t>(blockIdx.x) * assets;
    for (int a = threadIdx.x; a < assets; a += THREADS) row[a] = weights[start + a];
    __syncthreads();
    double mine[MAX_ASSETS / THREADS], total = 0.0;
#pragma unroll
    for (int k = 0; k < MAX_ASSETS / THREADS; ++k) {
        const int a = k * THREADS + threadIdx.x;
        double marginal = 0.0;
        if (a < assets) {  // the matrix is symmetric: reading down a column is contiguous over the threads
            for (int b = 0; b < assets; ++b) marginal += row[b] * covariance[static_cast<size_t>(b) * assets + a];
            marginal *= row[a];
        }
        mine[k] = marginal;
        total += marginal;
    }
    sums[threadIdx.x] = total;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    const double sigma = sqrt(fmax(sums[0], 0.0));
    const double scale = sigma > 0.0 ? 1.0 / sigma : 1.0;
    if (threadIdx.x == 0) volatility[blockIdx.x] = sigma;
#pragma unroll
    for (int k = 0; k < MAX_ASSETS / THREADS; ++k) {
        const int a = k * THREADS + threadIdx.x;
        if (a < assets) contributions[start + a] = mine[k] * scale;
    }
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 2);
    const int portfolios = sizes[0], assets = sizes[1];
    if (portfolios < 1 || portfolios > 65535 || assets < 1 || assets > 512) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t cells = static_cast<size_t>(portfolios) * assets;
    double* covariance = Gpu::copyOf(readArray<double>("data/covariance.bin", static_cast<size_t>(assets) * assets));
    double* weights = Gpu::copyOf(readArray<double>("data/weights.bin", cells));
    double* volatility = Gpu::allocate(portfolios);
    double* contributions = Gpu::allocate(cells);
    contribute<<<portfolios, THREADS>>>(covariance, weights, volatility, contributions, assets);
    Gpu::check(cudaGetLastError());
    writeArray("data/volatility.bin", volatility, portfolios);
    writeArray("data/contributions.bin", contributions, cells);
    for (double* pointer : {covariance, weights, volatility, contributions}) Gpu::check(cudaFree(pointer));
    return 0;
}
