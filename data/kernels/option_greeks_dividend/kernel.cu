#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

// The standard normal distribution function.
__device__ __forceinline__ float cumulative(float x) { return 0.5f * erfcf(-0.70710678f * x); }

// contracts: rows spot, strike, rate, dividend, volatility, maturity.
__global__ void priceOptions(const float* __restrict__ contracts, float* __restrict__ prices,
                             float* __restrict__ greeks, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float spot = contracts[i], strike = contracts[n + i];
        const float rate = contracts[2 * n + i], dividend = contracts[3 * n + i];
        const float volatility = contracts[4 * n + i], years = contracts[5 * n + i];
        float call = fmaxf(spot - strike, 0.0f), put = fmaxf(strike - spot, 0.0f);
        float delta = spot > strike ? 1.0f : 0.0f, gamma = 0.0f, vega = 0.0f;
        if (years > 0.0f) {
            const float root = sqrtf(years), deviation = volatility * root;
            const float d1 = (logf(spot / strike) + (rate - dividend) * years) / deviation + 0.5f * deviation;
            const float d2 = d1 - deviation;
            const float decay = expf(-dividend * years);
            const float carried = spot * decay, paid = strike * expf(-rate * years);
            const float density = 0.39894228f * expf(-0.5f * d1 * d1);
            call = carried * cumulative(d1) - paid * cumulative(d2);
            put = paid * cumulative(-d2) - carried * cumulative(-d1);
            delta = decay * cumulative(d1);
            gamma = decay * density / (spot * deviation);
            vega = carried * density * root;
        }
        prices[i] = call;
        prices[n + i] = put;
        greeks[i] = delta;
        greeks[n + i] = gamma;
        greeks[2 * n + i] = vega;
    }
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> load(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != static_cast<std::streamoff>(count * sizeof(T))) {
        throw std::runtime_error("wrong length: " + path);
    }
    std::vector<T> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error("cannot read " + path);
    return values;
}

static void store(const std::string& path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost), "copy back");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

static void run() {
    const int n = load<int>("data/sizes.bin", 1)[0];
    if (n < 1 || n > 500000) throw std::runtime_error("data/sizes.bin: options outside 1..500000");
    const std::vector<float> contracts = load<float>("data/contracts.bin", 6 * static_cast<size_t>(n));
    float *dContracts, *dPrices, *dGreeks;
    check(cudaMalloc(&dContracts, contracts.size() * sizeof(float)), "contracts");
    check(cudaMalloc(&dPrices, 2 * sizeof(float) * n), "prices");
    check(cudaMalloc(&dGreeks, 3 * sizeof(float) * n), "greeks");
    check(cudaMemcpy(dContracts, contracts.data(), contracts.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");

    int blocks = 0, threads = 0;
    check(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, priceOptions), "occupancy");
    if (blocks > (n + threads - 1) / threads) blocks = (n + threads - 1) / threads;
    priceOptions<<<blocks, threads>>>(dContracts, dPrices, dGreeks, n);
    check(cudaGetLastError(), "launch");
    store("data/prices.bin", dPrices, 2 * static_cast<size_t>(n));
    store("data/greeks.bin", dGreeks, 3 * static_cast<size_t>(n));
    for (float* pointer : {dContracts, dPrices, dGreeks}) check(cudaFree(pointer), "free");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
