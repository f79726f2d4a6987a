#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(call)                                                                             \
    do {                                                                                          \
        cudaError_t status_ = (call);                                                             \
        if (status_ != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            std::exit(2);                                                                         \
        }                                                                                         \
    } while (0)

constexpr int MAX_OPTIONS = 65535, MAX_STEPS = 1000;

static void transfer(const char* path, const char* mode, void* buffer, size_t bytes) {
    std::FILE* file = std::fopen(path, mode);
    bool ok = file != nullptr;
    if (ok && mode[0] == 'r') ok = std::fread(buffer, 1, bytes, file) == bytes && std::fgetc(file) == EOF;
    if (ok && mode[0] == 'w') ok = std::fwrite(buffer, 1, bytes, file) == bytes;
    if (file && std::fclose(file) != 0) ok = false;
    if (!ok) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        std::exit(3);
    }
}

// One thread walks a whole tree in its own stretch of `levels`, in place: an entry is not read again once written.
__global__ void walkTrees(const double* contracts, double* levels, double* values, int options, int steps) {
    const int option = blockIdx.x * blockDim.x + threadIdx.x;
    if (option >= options) return;
    const double spot = contracts[option], strike = contracts[options + option];
    const double rate = contracts[2 * options + option], volatility = contracts[3 * options + option];
    const double dt = contracts[4 * options + option] / steps, up = exp(volatility * sqrt(dt));
    const double p = (exp(rate * dt) - 1.0 / up) / (up - 1.0 / up), discount = exp(-rate * dt);
    double* value = levels + static_cast<size_t>(option) * (steps + 1);
    for (int j = 0; j <= steps; ++j) value[j] = fmax(strike - spot * pow(up, 2.0 * j - steps), 0.0);
    for (int level = steps - 1; level >= 0; --level) {
        for (int j = 0; j <= level; ++j) {
            const double hold = discount * (p * value[j + 1] + (1.0 - p) * value[j]);
            value[j] = fmax(hold, strike - spot * pow(up, 2.0 * j - level));
        }
    }
    values[option] = value[0];
}

int main() {
    int sizes[2];
    transfer("data/sizes.bin", "rb", sizes, sizeof sizes);
    const int options = sizes[0], steps = sizes[1];
    if (options < 1 || options > MAX_OPTIONS || steps < 1 || steps > MAX_STEPS) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<double> contracts(5 * static_cast<size_t>(options)), values(options);
    transfer("data/contracts.bin", "rb", contracts.data(), contracts.size() * sizeof(double));
    double *dContracts, *dValues;
    CUDA_OK(cudaMalloc(&dContracts, contracts.size() * sizeof(double)));
    CUDA_OK(cudaMalloc(&dValues, options * sizeof(double)));
    CUDA_OK(cudaMemcpy(dContracts, contracts.data(), contracts.size() * sizeof(double), cudaMemcpyHostToDevice));
    double* dLevels;
    CUDA_OK(cudaMalloc(&dLevels, static_cast<size_t>(options) * (steps + 1) * sizeof(double)));
    walkTrees<<<(options + 63) / 64, 64>>>(dContracts, dLevels, dValues, options, steps);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaFree(dLevels));
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(values.data(), dValues, options * sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(dContracts));
    CUDA_OK(cudaFree(dValues));
    transfer("data/values.bin", "wb", values.data(), values.size() * sizeof(double));
    return 0;
}
