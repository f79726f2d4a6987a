#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Slice {
    double forward, alpha, beta, rho, nu, years;
};

__device__ double sabr(const Slice& s, double strike) {
    const double gap = log(s.forward / strike), b = 1.0 - s.beta;
    const double mean = pow(s.forward * strike, 0.5 * b), z = s.nu / s.alpha * mean * gap;
    double quotient;
    if (fabs(z) < 1e-4) {
        quotient = 1.0 - 0.5 * s.rho * z + (2.0 - 3.0 * s.rho * s.rho) / 12.0 * z * z;
    } else {
        quotient = z / log((sqrt(1.0 - 2.0 * s.rho * z + z * z) + z - s.rho) / (1.0 - s.rho));
    }
    const double g = b * gap * (b * gap);
    const double bottom = mean * (1.0 + g / 24.0 + g * g / 1920.0), level = s.alpha / mean;
    const double drift = b * level * (b * level) / 24.0 + 0.25 * s.rho * s.beta * s.nu * level +
                         (2.0 - 3.0 * s.rho * s.rho) * s.nu * s.nu / 24.0;
    return s.alpha / bottom * quotient * (1.0 + drift * s.years);
}

// blockIdx.y walks over slices; the threads of a block share the slice and differ in the strike.
__global__ void surface(const double* __restrict__ parameters, const double* __restrict__ moneyness,
                        double* __restrict__ volatility, int slices, int strikes) {
    __shared__ double p[6];
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = blockIdx.y; row < slices; row += gridDim.y) {
        __syncthreads();  // the slice before is no longer needed
        const size_t at = threadIdx.x * static_cast<size_t>(slices) + row;
        if (threadIdx.x < 6) p[threadIdx.x] = parameters[at];
        __syncthreads();
        const Slice slice{p[0], p[1], p[2], p[3], p[4], p[5]};
        if (k < strikes) {
            volatility[static_cast<size_t>(row) * strikes + k] = sabr(slice, slice.forward * moneyness[k]);
        }
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        exit(1);
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
        exit(1);
    }
    fclose(file);
    return values;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int slices = sizes[0], strikes = sizes[1];
    if (slices < 1 || slices > 20000 || strikes < 1 || strikes > 512) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto parameters = readFile<double>("data/parameters.bin", 6 * static_cast<size_t>(slices));
    const auto moneyness = readFile<double>("data/moneyness.bin", strikes);
    std::vector<double> volatility(static_cast<size_t>(slices) * strikes);
    double *dParameters, *dMoneyness, *dVolatility;
    check(cudaMalloc(&dParameters, parameters.size() * sizeof(double)));
    check(cudaMalloc(&dMoneyness, strikes * sizeof(double)));
    check(cudaMalloc(&dVolatility, volatility.size() * sizeof(double)));
    check(cudaMemcpy(dParameters, parameters.data(), parameters.size() * sizeof(double), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dMoneyness, moneyness.data(), strikes * sizeof(double), cudaMemcpyHostToDevice));
    const dim3 grid((strikes + 63) / 64, slices < 2048 ? slices : 2048);
    surface<<<grid, 64>>>(dParameters, dMoneyness, dVolatility, slices, strikes);
    check(cudaGetLastError());
    check(cudaMemcpy(volatility.data(), dVolatility, volatility.size() * sizeof(double), cudaMemcpyDeviceToHost));
    check(cudaFree(dParameters));
    check(cudaFree(dMoneyness));
    check(cudaFree(dVolatility));
    FILE* file = fopen("data/volatility.bin", "wb");
    if (!file || fwrite(volatility.data(), sizeof(double), volatility.size(), file) != volatility.size()) return 1;
    return fclose(file) == 0 ? 0 : 1;
}
