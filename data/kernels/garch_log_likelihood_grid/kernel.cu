#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                     \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "%s at line %d\n", cudaGetErrorString(e), __LINE__);     \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

// Reads a file of `count` values of T, which must be all it holds.
template <typename T>
static std::vector<T> contents(const char* path, size_t count) {
    std::vector<T> values(count + 1);
    FILE* file = fopen(path, "rb");
    const size_t got = file ? fread(values.data(), 1, (count + 1) * sizeof(T), file) : 0;
    if (file) fclose(file);
    if (got != count * sizeof(T)) {
        fprintf(stderr, "%s: %zu bytes expected\n", path, count * sizeof(T));
        exit(1);
    }
    values.pop_back();
    return values;
}

constexpr int THREADS = 128;
constexpr double LOG_TWO_PI = 1.8378770664093454836;

__global__ void logLikelihood(const float* __restrict__ returns, const double* __restrict__ parameters,
                              double* __restrict__ likelihood, int days, int models) {
    __shared__ double squares[THREADS];
    const int model = blockIdx.x * THREADS + threadIdx.x;
    const bool real = model < models;
    const double omega = real ? parameters[model] : 1.0, alpha = real ? parameters[models + model] : 0.0;
    const double beta = real ? parameters[2 * models + model] : 0.0;
    double variance = omega / (1.0 - alpha - beta), sum = 0.0;
    for (int first = 0; first < days; first += THREADS) {
        const int count = min(THREADS, days - first);
        __syncthreads();  // the last stretch has been used by all
        if (threadIdx.x < count) {
            const double r = returns[first + threadIdx.x];
            squares[threadIdx.x] = r * r;
        }
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            sum += log(variance) + squares[k] / variance;
            variance = omega + alpha * squares[k] + beta * variance;
        }
    }
    if (real) likelihood[model] = -0.5 * (sum + days * LOG_TWO_PI);
}

int main() {
    const std::vector<int> sizes = contents<int>("data/sizes.bin", 2);
    const int days = sizes[0], models = sizes[1];
    if (days < 1 || days > 20000 || models < 1 || models > 100000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const std::vector<float> returns = contents<float>("data/returns.bin", days);
    const std::vector<double> parameters = contents<double>("data/parameters.bin", 3 * static_cast<size_t>(models));
    float* dReturns;
    double *dParameters, *dLikelihood;
    OK(cudaMalloc(&dReturns, days * sizeof(float)));
    OK(cudaMalloc(&dParameters, parameters.size() * sizeof(double)));
    OK(cudaMalloc(&dLikelihood, models * sizeof(double)));
    OK(cudaMemcpy(dReturns, returns.data(), days * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dParameters, parameters.data(), parameters.size() * sizeof(double), cudaMemcpyHostToDevice));
    logLikelihood<<<(models + 127) / 128, 128>>>(dReturns, dParameters, dLikelihood, days, models);
    OK(cudaGetLastError());
    std::vector<double> likelihood(models);
    OK(cudaMemcpy(likelihood.data(), dLikelihood, models * sizeof(double), cudaMemcpyDeviceToHost));
    OK(cudaFree(dReturns));
    OK(cudaFree(dParameters));
    OK(cudaFree(dLikelihood));
    FILE* file = fopen("data/likelihood.bin", "wb");
    const bool good = file && fwrite(likelihood.data(), sizeof(double), models, file) == likelihood.size();
    return file && fclose(file) == 0 && good ? 0 : 1;
}
