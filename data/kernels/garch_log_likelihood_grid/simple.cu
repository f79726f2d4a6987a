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

__global__ void logLikelihood(const float* returns, const double* parameters, double* likelihood, int days,
                              int models) {
    const int model = blockIdx.x * blockDim.x + threadIdx.x;
    if (model >= models) return;
    const double omega = parameters[model], alpha = parameters[models + model], beta = parameters[2 * models + model];
    double variance = omega / (1.0 - alpha - beta), sum = 0.0;
    for (int day = 0; day < days; ++day) {
        const double square = static_cast<double>(returns[day]) * returns[day];
        sum -= 0.5 * (log(6.283185307179586477 * variance) + square / variance);
        variance = omega + alpha * square + beta * variance;
    }
    likelihood[model] = sum;
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
