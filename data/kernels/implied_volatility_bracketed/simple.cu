#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void require(bool condition, const char* message) {
    if (condition) return;
    std::fprintf(stderr, "error: %s\n", message);
    std::exit(EXIT_FAILURE);
}

static void cuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static void readFile(const char* path, void* target, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    require(file != nullptr, path);
    require(std::fread(target, 1, bytes, file) == bytes && std::fgetc(file) == EOF, path);
    std::fclose(file);
}

static void writeFile(const char* path, const void* source, size_t bytes) {
    std::FILE* file = std::fopen(path, "wb");
    require(file != nullptr, path);
    require(std::fwrite(source, 1, bytes, file) == bytes && std::fclose(file) == 0, path);
}

constexpr double LOWEST = 0.001, HIGHEST = 4.0;

struct Quote {
    double spot, discounted, logMoney, root, price;  // discounted: the strike's present value
};

__device__ __forceinline__ double cdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }

// The call's value at a volatility; *vega gets its derivative.
__device__ double callValue(const Quote& q, double volatility, double* vega) {
    const double s = volatility * q.root, d1 = q.logMoney / s + 0.5 * s;
    *vega = q.spot * q.root * 0.39894228040143267794 * exp(-0.5 * d1 * d1);
    return q.spot * cdf(d1) - q.discounted * cdf(d1 - s);
}

__device__ Quote quoteAt(const double* quotes, int i, int n) {
    const double spot = quotes[i], strike = quotes[n + i], rate = quotes[2 * n + i], years = quotes[3 * n + i];
    return {spot, strike * exp(-rate * years), log(spot / strike) + rate * years, sqrt(years), quotes[4 * n + i]};
}

// Plain bisection: 60 halvings of an interval of length 4 leave nothing that matters.
__global__ void impliedVolatility(const double* quotes, double* volatility, uint8_t* status, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Quote q = quoteAt(quotes, i, n);
    double vega, low = LOWEST, high = HIGHEST;
    status[i] = 0;
    if (q.price <= callValue(q, low, &vega)) status[i] = 1;
    if (q.price >= callValue(q, high, &vega)) status[i] = 2;
    for (int round = 0; round < 60; ++round) {
        const double middle = 0.5 * (low + high);
        if (callValue(q, middle, &vega) > q.price) {
            high = middle;
        } else {
            low = middle;
        }
    }
    volatility[i] = status[i] == 0 ? low : 0.0;
}

int main() {
    int n;
    readFile("data/sizes.bin", &n, sizeof n);
    require(n >= 1 && n <= 400000, "data/sizes.bin: quotes is not in 1..400000");
    std::vector<double> quotes(5 * static_cast<size_t>(n)), volatility(n);
    std::vector<uint8_t> status(n);
    readFile("data/quotes.bin", quotes.data(), quotes.size() * sizeof(double));
    double *dQuotes, *dVolatility;
    uint8_t* dStatus;
    cuda(cudaMalloc(&dQuotes, quotes.size() * sizeof(double)));
    cuda(cudaMalloc(&dVolatility, n * sizeof(double)));
    cuda(cudaMalloc(&dStatus, n));
    cuda(cudaMemcpy(dQuotes, quotes.data(), quotes.size() * sizeof(double), cudaMemcpyHostToDevice));
    impliedVolatility<<<(n + 127) / 128, 128>>>(dQuotes, dVolatility, dStatus, n);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(volatility.data(), dVolatility, n * sizeof(double), cudaMemcpyDeviceToHost));
    cuda(cudaMemcpy(status.data(), dStatus, n, cudaMemcpyDeviceToHost));
    writeFile("data/volatility.bin", volatility.data(), n * sizeof(double));
    writeFile("data/status.bin", status.data(), n);
    cuda(cudaFree(dQuotes));
    cuda(cudaFree(dVolatility));
    cuda(cudaFree(dStatus));
    return 0;
}
