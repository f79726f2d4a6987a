#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void fatal(const char* what) {
    std::fprintf(stderr, "fatal: %s\n", what);
    std::exit(1);
}

static void guard(cudaError_t status) {
    if (status != cudaSuccess) fatal(cudaGetErrorString(status));
}

constexpr int MAX_UNITS = 2047;

template <typename T>
static std::vector<T> fetch(const char* path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) fatal(path);
    std::fclose(file);
    return values;
}

template <typename T>
static T* place(const std::vector<T>& values) {
    T* device;
    guard(cudaMalloc(&device, values.size() * sizeof(T)));
    guard(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void emit(const char* path, double* device, size_t count) {
    std::vector<double> values(count);
    guard(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost));
    guard(cudaFree(device));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(double), count, file) != count || std::fclose(file)) fatal(path);
}

// One thread a portfolio, in place from the largest loss downwards, so that sources are still the old ones.
__global__ void convolve(const float* probabilities, const int* losses, double* distribution, double* expectedTail,
                         int portfolios, int obligors, int units) {
    const int portfolio = blockIdx.x * blockDim.x + threadIdx.x;
    if (portfolio >= portfolios) return;
    double* d = distribution + static_cast<size_t>(portfolio) * (units + 1);
    for (int j = 0; j <= units; ++j) d[j] = j == 0 ? 1.0 : 0.0;
    for (int k = 0; k < obligors; ++k) {
        const size_t at = static_cast<size_t>(portfolio) * obligors + k;
        const double p = probabilities[at];
        const int loss = min(losses[at], units);
        double capped = 0.0;
        for (int j = units - loss; j <= units; ++j) capped += d[j];
        d[units] = (1.0 - p) * d[units] + p * capped;
        for (int j = units - 1; j >= 0; --j) d[j] = (1.0 - p) * d[j] + (j >= loss ? p * d[j - loss] : 0.0);
    }
    double tail = 0.0;
    for (int j = units / 2; j <= units; ++j) tail += d[j] * (j - units / 2);
    expectedTail[portfolio] = tail;
}

int main() {
    const std::vector<int> sizes = fetch<int>("data/sizes.bin", 3);
    const int portfolios = sizes[0], obligors = sizes[1], units = sizes[2];
    if (portfolios < 1 || portfolios > 65535) fatal("portfolios out of range");
    if (obligors < 1 || obligors > 1024 || units < 1 || units > MAX_UNITS) fatal("sizes out of range");
    const size_t cells = static_cast<size_t>(portfolios) * obligors, levels = static_cast<size_t>(units) + 1;
    const std::vector<int> hostLosses = fetch<int>("data/losses.bin", cells);
    for (int loss : hostLosses) {
        if (loss < 0) fatal("data/losses.bin: negative");
    }
    float* probabilities = place(fetch<float>("data/probabilities.bin", cells));
    int* losses = place(hostLosses);
    double *distribution, *tails;
    guard(cudaMalloc(&distribution, portfolios * levels * sizeof(double)));
    guard(cudaMalloc(&tails, portfolios * sizeof(double)));
    convolve<<<(portfolios + 31) / 32, 32>>>(probabilities, losses, distribution, tails, portfolios, obligors, units);
    guard(cudaGetLastError());
    emit("data/distribution.bin", distribution, portfolios * levels);
    emit("data/expected_tail.bin", tails, portfolios);
    guard(cudaFree(probabilities));
    guard(cudaFree(losses));
    return 0;
}
