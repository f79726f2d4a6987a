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

__global__ void absorb(const double* centers, const float* strengths, const float* widths, Grid grid, float* spectrum,
                       int lines, int points) {
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    const double x = grid.first + grid.step * point;
    double sum = 0.0;
    for (int line = 0; line < lines; ++line) {
        const double distance = x - centers[line], width = widths[line];
        if (fabs(distance) > grid.cutoff) continue;
        sum += strengths[line] * width / 3.14159265358979324 / (distance * distance + width * width);
    }
    spectrum[point] = static_cast<float>(sum);
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
