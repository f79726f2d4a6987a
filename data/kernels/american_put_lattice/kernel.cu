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

constexpr int THREADS = 256;

__global__ void walkTrees(const double* contracts, double* values, int options, int steps) {
    __shared__ double buffers[2][MAX_STEPS + 1];
    const int option = blockIdx.x;
    const double spot = contracts[option], strike = contracts[options + option];
    const double rate = contracts[2 * options + option], volatility = contracts[3 * options + option];
    const double dt = contracts[4 * options + option] / steps;
    const double logUp = volatility * sqrt(dt), up = exp(logUp);
    const double discount = exp(-rate * dt), p = (exp(rate * dt) - 1.0 / up) / (up - 1.0 / up);
    const double weightUp = discount * p, weightDown = discount * (1.0 - p);

    for (int j = threadIdx.x; j <= steps; j += THREADS) {
        buffers[steps & 1][j] = fmax(strike - spot * exp(logUp * (2 * j - steps)), 0.0);
    }
    __syncthreads();
    for (int level = steps - 1; level >= 0; --level) {
        const double* later = buffers[(level + 1) & 1];
        double* now = buffers[level & 1];
        for (int j = threadIdx.x; j <= level; j += THREADS) {
            const double hold = weightUp * later[j + 1] + weightDown * later[j];
            now[j] = fmax(hold, strike - spot * exp(logUp * (2 * j - level)));
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) values[option] = buffers[0][0];
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
    walkTrees<<<options, THREADS>>>(dContracts, dValues, options, steps);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(values.data(), dValues, options * sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(dContracts));
    CUDA_OK(cudaFree(dValues));
    transfer("data/values.bin", "wb", values.data(), values.size() * sizeof(double));
    return 0;
}
