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

__global__ void regress(const float* market, const float* returns, float* beta, float* residual, int assets, int days,
                        int window) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= static_cast<long long>(assets) * days) return;
    const int day = static_cast<int>(at % days);
    const float* row = returns + at / days * days;
    Sums s{};
    for (int d = day - window + 1; d <= day && day + 1 >= window; ++d) s.add(market[d], row[d], 1.0);
    const float2 result = day + 1 >= window ? fit(s, window) : make_float2(0.0f, 0.0f);
    beta[at] = result.x;
    residual[at] = result.y;
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
    const unsigned blocks = static_cast<unsigned>((count + 127) / 128);
    regress<<<blocks, 128>>>(dMarket, dReturns, beta, residual, assets, days, window);
    OK(cudaGetLastError());
    store("data/beta.bin", beta, count);
    store("data/residual.bin", residual, count);
    for (float* pointer : {dMarket, dReturns, beta, residual}) OK(cudaFree(pointer));
    return 0;
}
