#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                      \
    do {                                                                               \
        cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

template <typename T>
static T* deviceArray(const char* path, size_t count, T* first = nullptr, size_t keep = 0) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: must hold %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    for (size_t i = 0; i < keep; ++i) first[i] = values[i];
    T* device;
    TRY(cudaMalloc(&device, count * sizeof(T)));
    TRY(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

struct Grid {
    double first, step, cutoff;
};

constexpr int THREADS = 128;

// The first line with a center of at least x.
__device__ int lowerBound(const double* centers, int lines, double x) {
    int low = 0, high = lines;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (centers[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ void absorb(const double* __restrict__ centers, const float* __restrict__ strengths,
                       const float* __restrict__ widths, Grid grid, float* __restrict__ spectrum, int lines,
                       int points) {
    __shared__ double center[THREADS];
    __shared__ float weight[THREADS], square[THREADS];
    __shared__ int bounds[2];
    const int point = blockIdx.x * THREADS + threadIdx.x;
    const double x = grid.first + grid.step * point;
    if (threadIdx.x < 2) {  // a grid step more on both sides, against rounding
        const double edge = grid.first + grid.step * THREADS * (static_cast<double>(blockIdx.x) + threadIdx.x);
        const double reach = grid.cutoff + grid.step;
        bounds[threadIdx.x] = lowerBound(centers, lines, threadIdx.x == 0 ? edge - reach : edge + reach);
    }
    __syncthreads();
    double sum = 0.0;
    for (int first = bounds[0]; first < bounds[1]; first += THREADS) {
        const int line = first + threadIdx.x, count = min(THREADS, bounds[1] - first);
        if (threadIdx.x < count) {
            center[threadIdx.x] = centers[line];
            weight[threadIdx.x] = strengths[line] * widths[line] * 0.31830989f;
            square[threadIdx.x] = widths[line] * widths[line];
        }
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            const double distance = x - center[k];
            if (fabs(distance) <= grid.cutoff) {
                const float d = static_cast<float>(distance);
                sum += weight[k] / (d * d + square[k]);
            }
        }
        __syncthreads();
    }
    if (point < points) spectrum[point] = static_cast<float>(sum);
}

int main() {
    int sizes[2];
    TRY(cudaFree(deviceArray<int>("data/sizes.bin", 2, sizes, 2)));
    const int lines = sizes[0], points = sizes[1];
    if (lines < 1 || lines > 20000 || points < 1 || points > 200000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    double* centers = deviceArray<double>("data/centers.bin", lines);
    float* strengths = deviceArray<float>("data/strengths.bin", lines);
    float* widths = deviceArray<float>("data/widths.bin", lines);
    double given[3];
    TRY(cudaFree(deviceArray<double>("data/grid.bin", 3, given, 3)));
    const Grid grid{given[0], given[1], given[2]};
    float* spectrum;
    TRY(cudaMalloc(&spectrum, points * sizeof(float)));
    absorb<<<(points + 127) / 128, 128>>>(centers, strengths, widths, grid, spectrum, lines, points);
    TRY(cudaGetLastError());
    std::vector<float> result(points);
    TRY(cudaMemcpy(result.data(), spectrum, points * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(centers));
    TRY(cudaFree(strengths));
    TRY(cudaFree(widths));
    TRY(cudaFree(spectrum));
    FILE* file = fopen("data/spectrum.bin", "wb");
    if (!file || fwrite(result.data(), sizeof(float), points, file) != result.size() || fclose(file) != 0) return 1;
    return 0;
}
