#include <cuda_runtime.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kHalf = 16;

// The sum over the 16 lanes of a half warp, in each of them.
__device__ double sumOfHalf(double v) {
    for (int step = kHalf / 2; step > 0; step /= 2) v += __shfl_xor_sync(kAll, v, step);
    return v;
}

// A block of one warp solves a slab. Lanes 0-15 have the directions to the right, lanes 16-31 those to the left.
__global__ void __launch_bounds__(32) solve(const double* __restrict__ thickness,
                                            const double* __restrict__ quadrature,
                                            const double* __restrict__ material, double* __restrict__ flux,
                                            double* __restrict__ leakage, int slabs, int cells, int pairs,
                                            int rounds) {
    extern __shared__ double shared[];
    double* emission = shared;           // by the sources and by scattering, for each direction
    double* rightward = shared + cells;  // flux of the directions to the right
    double* leftward = rightward + cells;
    const int lane = threadIdx.x, direction = lane % kHalf;
    const bool toRight = lane < kHalf, used = direction < pairs;
    const size_t plane = static_cast<size_t>(slabs) * cells, row = static_cast<size_t>(blockIdx.x) * cells;
    const double* total = material + row;
    const double* scatter = material + plane + row;
    const double* source = material + 2 * plane + row;
    const double mu = used ? quadrature[direction] : 1.0, weight = used ? quadrature[pairs + direction] : 0.0;
    const double slope = 2.0 * mu * cells / thickness[blockIdx.x];

    for (int c = lane; c < cells; c += 32) rightward[c] = leftward[c] = 0.0;
    double edge = 0.0;
    for (int round = 0; round < rounds; ++round) {
        for (int c = lane; c < cells; c += 32) {
            emission[c] = 0.5 * (scatter[c] * (rightward[c] + leftward[c]) + source[c]);
        }
        __syncwarp();
        edge = 0.0;
        for (int i = 0; i < cells; ++i) {
            const int c = toRight ? i : cells - 1 - i;
            const double middle = (emission[c] + slope * edge) / (total[c] + slope);
            edge = 2.0 * middle - edge;
            const double sum = sumOfHalf(weight * middle);
            if (direction == 0) (toRight ? rightward : leftward)[c] = sum;
        }
        __syncwarp();
    }
    for (int c = lane; c < cells; c += 32) flux[row + c] = rightward[c] + leftward[c];
    const double leak = sumOfHalf(weight * mu * edge);
    if (direction == 0) leakage[2 * static_cast<size_t>(blockIdx.x) + (toRight ? 1 : 0)] = leak;
}

static void quit(const std::string& message) {
    fprintf(stderr, "%s\n", message.c_str());
    exit(1);
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) quit(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename Container>
static void readInto(const char* path, Container& values) {
    FILE* file = fopen(path, "rb");
    if (!file) quit(std::string("no ") + path);
    const size_t got = fread(values.data(), sizeof(values[0]), values.size(), file);
    if (got != values.size() || fgetc(file) != EOF) quit(std::string(path) + " has another length than expected");
    fclose(file);
}

static double* upload(const std::vector<double>& values) {
    double* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(double)), "cudaMalloc");
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice), "cudaMemcpy");
    return device;
}

static void download(const char* path, const double* device, size_t count) {
    std::vector<double> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost), path);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(double), count, file) != count || fclose(file) != 0) {
        quit(std::string("cannot write ") + path);
    }
}

int main() {
    std::array<int, 4> sizes;
    readInto("data/sizes.bin", sizes);
    const auto [slabs, cells, pairs, rounds] = sizes;
    if (slabs < 1 || slabs > 100000 || cells < 1 || cells > 1024) quit("data/sizes.bin: slabs or cells out of range");
    if (pairs < 1 || pairs > kHalf || rounds < 1 || rounds > 100) quit("data/sizes.bin: pairs or rounds out of range");
    const size_t count = static_cast<size_t>(slabs) * cells;
    std::vector<double> thickness(slabs), quadrature(2 * pairs), material(3 * count);
    readInto("data/thickness.bin", thickness);
    readInto("data/quadrature.bin", quadrature);
    readInto("data/material.bin", material);

    double *dThickness = upload(thickness), *dQuadrature = upload(quadrature), *dMaterial = upload(material);
    double *dFlux = nullptr, *dLeakage = nullptr;
    check(cudaMalloc(&dFlux, count * sizeof(double)), "cudaMalloc");
    check(cudaMalloc(&dLeakage, 2 * sizeof(double) * slabs), "cudaMalloc");
    solve<<<slabs, 32, 3 * sizeof(double) * cells>>>(dThickness, dQuadrature, dMaterial, dFlux, dLeakage, slabs, cells,
                                                     pairs, rounds);
    check(cudaGetLastError(), "solve");
    download("data/flux.bin", dFlux, count);
    download("data/leakage.bin", dLeakage, 2 * static_cast<size_t>(slabs));
    for (double* pointer : {dThickness, dQuadrature, dMaterial, dFlux, dLeakage}) check(cudaFree(pointer), "cudaFree");
    return 0;
}
