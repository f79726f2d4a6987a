#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU(call)                                                                 \
    do {                                                                          \
        const cudaError_t result_ = call;                                         \
        if (result_ != cudaSuccess) {                                             \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(result_)); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

constexpr int kThreads = 256, kMaxPaths = 1000000, kMaxDates = 512;

struct Market {
    float logSpot, strike, discount, drift, deviation;  // drift and deviation of the log price over one date
};

__global__ void simulate(const float* __restrict__ normals, float* __restrict__ payoffs, Market market, int paths,
                         int dates) {
    const int path = blockIdx.x * kThreads + threadIdx.x;
    if (path >= paths) return;
    float logPrice = 0.0f;  // relative to the start, to keep its digits
    double sum = 0.0, logSum = 0.0;
    for (int date = 0; date < dates; ++date) {
        logPrice += market.drift + market.deviation * normals[static_cast<size_t>(date) * paths + path];
        sum += expf(logPrice);
        logSum += logPrice;
    }
    const float spot = expf(market.logSpot);
    const float arithmetic = spot * static_cast<float>(sum / dates);
    const float geometric = spot * expf(static_cast<float>(logSum / dates));
    payoffs[path] = market.discount * fmaxf(arithmetic - market.strike, 0.0f);
    payoffs[paths + path] = market.discount * fmaxf(geometric - market.strike, 0.0f);
}

// One block for each kind of payoff: mean and deviation, in an order that does not change.
__global__ void summarise(const float* __restrict__ payoffs, double* __restrict__ summary, int paths) {
    __shared__ double sums[2][kThreads];
    const float* mine = payoffs + static_cast<size_t>(blockIdx.x) * paths;
    double sum = 0.0, squares = 0.0;
    for (int i = threadIdx.x; i < paths; i += kThreads) {
        const double value = mine[i];
        sum += value;
        squares += value * value;
    }
    sums[0][threadIdx.x] = sum;
    sums[1][threadIdx.x] = squares;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[0][threadIdx.x] += sums[0][threadIdx.x + half];
            sums[1][threadIdx.x] += sums[1][threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const double mean = sums[0][0] / paths;
        summary[2 * blockIdx.x] = mean;
        summary[2 * blockIdx.x + 1] = sqrt(fmax(sums[1][0] / paths - mean * mean, 0.0));
    }
}

template <typename T>
static std::vector<T> input(const char* path, size_t count) {
    std::vector<T> data(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(data.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s does not hold %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    return data;
}

template <typename T>
static void output(const char* path, const T* device, size_t count) {
    std::vector<T> data(count);
    GPU(cudaMemcpy(data.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = input<int>("data/sizes.bin", 2);
    const int paths = sizes[0], dates = sizes[1];
    if (paths < 1 || paths > kMaxPaths || dates < 1 || dates > kMaxDates) {
        fprintf(stderr, "sizes out of range: %d paths, %d dates\n", paths, dates);
        return 1;
    }
    const std::vector<float> given = input<float>("data/market.bin", 5);
    const std::vector<float> normals = input<float>("data/normals.bin", static_cast<size_t>(dates) * paths);
    const double rate = given[2], volatility = given[3], maturity = given[4], dt = maturity / dates;
    Market market;
    market.logSpot = static_cast<float>(std::log(static_cast<double>(given[0])));
    market.strike = given[1];
    market.discount = static_cast<float>(std::exp(-rate * maturity));
    market.drift = static_cast<float>((rate - 0.5 * volatility * volatility) * dt);
    market.deviation = static_cast<float>(volatility * std::sqrt(dt));

    float *dNormals, *dPayoffs;
    double* dSummary;
    GPU(cudaMalloc(&dNormals, normals.size() * sizeof(float)));
    GPU(cudaMalloc(&dPayoffs, 2 * sizeof(float) * paths));
    GPU(cudaMalloc(&dSummary, 4 * sizeof(double)));
    GPU(cudaMemcpy(dNormals, normals.data(), normals.size() * sizeof(float), cudaMemcpyHostToDevice));
    simulate<<<(paths + kThreads - 1) / kThreads, kThreads>>>(dNormals, dPayoffs, market, paths, dates);
    summarise<<<2, kThreads>>>(dPayoffs, dSummary, paths);
    GPU(cudaGetLastError());
    output("data/payoffs.bin", dPayoffs, 2 * static_cast<size_t>(paths));
    output("data/summary.bin", dSummary, 4);
    GPU(cudaFree(dNormals));
    GPU(cudaFree(dPayoffs));
    GPU(cudaFree(dSummary));
    return 0;
}
