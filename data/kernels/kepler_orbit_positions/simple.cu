#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_TRY(call)                                                                       \
    do {                                                                                     \
        cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                          \
            fprintf(stderr, "CUDA at line %d: %s\n", __LINE__, cudaGetErrorString(error));   \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

static void input(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s is missing or not %zu bytes long\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

// One thread for one body at one epoch; Kepler's equation by halving, 55 times.
__global__ void locate(const double* elements, const double* times, float* positions, int bodies, long long total) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= total) return;
    const int body = static_cast<int>(i % bodies);
    const size_t epoch = i / bodies;
    double element[7];
    for (int k = 0; k < 7; ++k) element[k] = elements[k * bodies + body];
    const double e = element[1];
    const double mean = remainder(element[5] + element[6] * times[epoch], 6.283185307179586477);
    double low = mean - e, high = mean + e;
    for (int round = 0; round < 55; ++round) {
        const double middle = 0.5 * (low + high);
        (middle - e * sin(middle) > mean ? high : low) = middle;
    }
    const double x = element[0] * (cos(low) - e), y = element[0] * sqrt(1.0 - e * e) * sin(low);
    const double along = cos(element[4]) * x - sin(element[4]) * y;
    const double across = sin(element[4]) * x + cos(element[4]) * y;
    const double sideways = cos(element[2]) * across;
    float* out = positions + epoch * 3 * bodies + body;
    out[0] = static_cast<float>(cos(element[3]) * along - sin(element[3]) * sideways);
    out[bodies] = static_cast<float>(sin(element[3]) * along + cos(element[3]) * sideways);
    out[2 * bodies] = static_cast<float>(sin(element[2]) * across);
}

int main() {
    int sizes[2];
    input("data/sizes.bin", sizes, sizeof(sizes));
    const int bodies = sizes[0], epochs = sizes[1];
    if (bodies < 1 || bodies > 100000 || epochs < 1 || epochs > 1000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<double> elements(7 * static_cast<size_t>(bodies)), times(epochs);
    input("data/elements.bin", elements.data(), elements.size() * sizeof(double));
    input("data/times.bin", times.data(), times.size() * sizeof(double));
    std::vector<float> positions(3 * static_cast<size_t>(epochs) * bodies);
    double *dElements, *dTimes;
    float* dPositions;
    CUDA_TRY(cudaMalloc(&dElements, elements.size() * sizeof(double)));
    CUDA_TRY(cudaMalloc(&dTimes, times.size() * sizeof(double)));
    CUDA_TRY(cudaMalloc(&dPositions, positions.size() * sizeof(float)));
    CUDA_TRY(cudaMemcpy(dElements, elements.data(), elements.size() * sizeof(double), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(dTimes, times.data(), times.size() * sizeof(double), cudaMemcpyHostToDevice));
    const long long total = static_cast<long long>(bodies) * epochs;
    locate<<<static_cast<unsigned>((total + 127) / 128), 128>>>(dElements, dTimes, dPositions, bodies, total);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(positions.data(), dPositions, positions.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaFree(dElements));
    CUDA_TRY(cudaFree(dTimes));
    CUDA_TRY(cudaFree(dPositions));
    FILE* file = fopen("data/positions.bin", "wb");
    if (!file || fwrite(positions.data(), 4, positions.size(), file) != positions.size()) return 1;
    return fclose(file) == 0 ? 0 : 1;
}
