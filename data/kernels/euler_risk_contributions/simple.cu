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

__global__ void contribute(const double* covariance, const double* weights, double* volatility, double* contributions,
                           int portfolios, int assets) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= portfolios) return;
    const double* w = weights + static_cast<size_t>(p) * assets;
    double* shares = contributions + static_cast<size_t>(p) * assets;
    double variance = 0.0;
    for (int a = 0; a < assets; ++a) {
        double marginal = 0.0;
        for (int b = 0; b < assets; ++b) marginal += covariance[static_cast<size_t>(a) * assets + b] * w[b];
        shares[a] = w[a] * marginal;
        variance += shares[a];
    }
    const double sigma = sqrt(fmax(variance, 0.0));
    volatility[p] = sigma;
    for (int a = 0; a < assets; ++a) shares[a] /= sigma > 0.0 ? sigma : 1.0;
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
    contribute<<<(portfolios + 63) / 64, 64>>>(covariance, weights, volatility, contributions, portfolios, assets);
    Gpu::check(cudaGetLastError());
    writeArray("data/volatility.bin", volatility, portfolios);
    writeArray("data/contributions.bin", contributions, cells);
    for (double* pointer : {covariance, weights, volatility, contributions}) Gpu::check(cudaFree(pointer));
    return 0;
}
