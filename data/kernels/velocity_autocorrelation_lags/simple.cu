#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool good = file && fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (!good) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

__global__ void correlate(const float* velocities, double* correlation, int frames, int particles, int lags) {
    const int lag = blockIdx.x * blockDim.x + threadIdx.x;
    if (lag >= lags) return;
    const size_t perFrame = 3 * static_cast<size_t>(particles);
    const size_t count = (frames - lag) * perFrame;
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) sum += static_cast<double>(velocities[i]) * velocities[i + lag * perFrame];
    correlation[lag] = sum / (static_cast<double>(frames - lag) * particles);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int frames = sizes[0], particles = sizes[1], lags = sizes[2];
    if (frames < 1 || frames > 4096 || particles < 1 || particles > 20000 || lags < 1 || lags > frames) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = 3 * static_cast<size_t>(frames) * particles;
    std::vector<float> velocities(count);
    readFile("data/velocities.bin", velocities.data(), count * sizeof(float));
    float* dVelocities;
    double* dCorrelation;
    check(cudaMalloc(&dVelocities, count * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&dCorrelation, lags * sizeof(double)), "cudaMalloc");
    check(cudaMemcpy(dVelocities, velocities.data(), count * sizeof(float), cudaMemcpyHostToDevice), "upload");
    correlate<<<(lags + 31) / 32, 32>>>(dVelocities, dCorrelation, frames, particles, lags);
    check(cudaGetLastError(), "launch");
    std::vector<double> correlation(lags);
    check(cudaMemcpy(correlation.data(), dCorrelation, lags * sizeof(double), cudaMemcpyDeviceToHost), "download");
    check(cudaFree(dVelocities), "cudaFree");
    check(cudaFree(dCorrelation), "cudaFree");
    FILE* file = fopen("data/correlation.bin", "wb");
    if (!file || fwrite(correlation.data(), sizeof(double), lags, file) != correlation.size()) return 1;
    return fclose(file) == 0 ? 0 : 1;
}
