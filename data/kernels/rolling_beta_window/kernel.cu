#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                        \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "CUDA, line %d: %s\n", __LINE__, cudaGetErrorString(e));    \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

struct Sums {
    double x, y, xx, xy, yy;
    __device__ void add(double a, double b, double sign) {
        x += sign * a;
        y += sign * b;
        xx += sign * a * a;
        xy += sign * a * b;
        yy += sign * b * b;
    }
};

// Slope and root mean square residual of the regression of y on x over `window` days.
__device__ float2 fit(const Sums& s, int window) {
    const double n = window, mx = s.x / n, my = s.y / n;
    const double variance = s.xx / n - mx * mx, slope = (s.xy / n - mx * my) / variance;
    const double left = s.yy / n - my * my - slope * slope * variance;
    return make_float2(static_cast<float>(slope), static_cast<float>(sqrt(fmax(left, 0.0))));
}

template <typename T>
static std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
    return values;
}

static void store(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    OK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(float), count, file) != count || fclose(file) != 0) exit(1);
}

constexpr int STRETCH = 32;  // days a thread writes after it has filled its first window

__global__ void regress(const float* __restrict__ market, const float* __restrict__ returns, float* __restrict__ beta,
                        float* __restrict__ residual, int assets, int days, int window) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * STRETCH, asset = blockIdx.y;
    if (first >= days) return;
    const size_t row = static_cast<size_t>(asset) * days;
    const int last = min(first + STRETCH, days);
    Sums s{};
    for (int d = max(0, first - window + 1); d < first; ++d) s.add(market[d], returns[row + d], 1.0);
    for (int d = first; d < last; ++d) {
        s.add(market[d], returns[row + d], 1.0);
        if (d >= window && d > first) s.add(market[d - window], returns[row + d - window], -1.0);
        const float2 result = d + 1 >= window ? fit(s, window) : make_float2(0.0f, 0.0f);
        beta[row + d] = result.x;
        residual[row + d] = result.y;
    }
}

int main() {
    const auto sizes = load<int>("data/sizes.bin", 3);
    const int assets = sizes[0], days = sizes[1], window = sizes[2];
    if (assets < 1 || assets > 20000 || days < 2 || days > 8192 || window < 2 || window > 512 || window > days) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(assets) * days;
    const auto market = load<float>("data/market.bin", days);
    const auto returns = load<float>("data/returns.bin", count);
    float *dMarket, *dReturns, *beta, *residual;
    OK(cudaMalloc(&dMarket, days * sizeof(float)));
    OK(cudaMalloc(&dReturns, count * sizeof(float)));
    OK(cudaMalloc(&beta, count * sizeof(float)));
    OK(cudaMalloc(&residual, count * sizeof(float)));
    OK(cudaMemcpy(dMarket, market.data(), days * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dReturns, returns.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    const int stretches = (days + STRETCH - 1) / STRETCH;
    regress<<<dim3((stretches + 63) / 64, assets), 64>>>(dMarket, dReturns, beta, residual, assets, days, window);
    OK(cudaGetLastError());
    store("data/beta.bin", beta, count);
    store("data/residual.bin", residual, count);
    for (float* pointer : {dMarket, dReturns, beta, residual}) OK(cudaFree(pointer));
    return 0;
}
