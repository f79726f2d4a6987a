#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// ratio[k] and value[k] of all options lie next to each other, so that a warp's accesses are contiguous.
__global__ void solvePuts(const double* __restrict__ contracts, double* __restrict__ values,
                          double* __restrict__ ratio, int options, int nodes, int steps) {
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= options) return;
    const double strike = contracts[o], rate = contracts[options + o], volatility = contracts[2 * options + o];
    const double dt = contracts[3 * options + o] / steps, variance = volatility * volatility;
    auto at = [&](int k) { return static_cast<size_t>(k) * options + o; };
    auto lower = [&](int k) { return -0.5 * dt * (variance * k * k - rate * k); };
    auto upper = [&](int k) { return -0.5 * dt * (variance * k * k + rate * k); };
    auto pivot = [&](int k, double before) { return 1.0 + dt * (variance * k * k + rate) - lower(k) * before; };

    ratio[at(0)] = 0.0;
    for (int k = 1; k < nodes - 1; ++k) ratio[at(k)] = upper(k) / pivot(k, ratio[at(k - 1)]);
    for (int k = 0; k < nodes; ++k) values[at(k)] = fmax(strike - 3.0 * strike * k / (nodes - 1), 0.0);
    for (int step = 1; step <= steps; ++step) {
        double left = strike * exp(-rate * dt * step), before = 0.0;
        values[at(0)] = left;
        values[at(nodes - 1)] = 0.0;
        for (int k = 1; k < nodes - 1; ++k) {
            left = (values[at(k)] - lower(k) * left) / pivot(k, before);
            values[at(k)] = left;
            before = ratio[at(k)];
        }
        double right = 0.0;
        for (int k = nodes - 2; k > 0; --k) {
            right = values[at(k)] - ratio[at(k)] * right;
            values[at(k)] = right;
        }
    }
}

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int options = sizes[0], nodes = sizes[1], steps = sizes[2];
    if (options < 1 || options > 20000 || nodes < 3 || nodes > 512 || steps < 1 || steps > 1000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<double> contracts(4 * static_cast<size_t>(options));
    readFile("data/contracts.bin", contracts.data(), contracts.size() * sizeof(double));
    const size_t count = static_cast<size_t>(nodes) * options, bytes = count * sizeof(double);
    double *dContracts, *values, *ratio;
    CHECK(cudaMalloc(&dContracts, contracts.size() * sizeof(double)));
    CHECK(cudaMalloc(&values, bytes));
    CHECK(cudaMalloc(&ratio, bytes));
    CHECK(cudaMemcpy(dContracts, contracts.data(), contracts.size() * sizeof(double), cudaMemcpyHostToDevice));
    solvePuts<<<(options + 63) / 64, 64>>>(dContracts, values, ratio, options, nodes, steps);
    CHECK(cudaGetLastError());
    std::vector<double> host(count);
    CHECK(cudaMemcpy(host.data(), values, bytes, cudaMemcpyDeviceToHost));
    for (double* pointer : {dContracts, values, ratio}) CHECK(cudaFree(pointer));
    FILE* file = fopen("data/values.bin", "wb");
    if (!file || fwrite(host.data(), sizeof(double), count, file) != count || fclose(file) != 0) return 1;
    return 0;
}
