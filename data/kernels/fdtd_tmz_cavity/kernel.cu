#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr float COURANT = 0.5f;

__global__ void stepMagnetic(const float* __restrict__ ez, float* __restrict__ hx, float* __restrict__ hy, int height,
                             int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    const float here = ez[i];
    if (y + 1 < height) hx[i] -= COURANT * (ez[i + width] - here);
    if (x + 1 < width) hy[i] += COURANT * (ez[i + 1] - here);
}

// The source is added by the thread of its own cell, after the curl.
__global__ void stepElectric(float* __restrict__ ez, const float* __restrict__ hx, const float* __restrict__ hy,
                             const float* __restrict__ permittivity, const float* __restrict__ pulse, int step,
                             int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    float value = ez[i];
    if (x > 0 && y > 0 && x + 1 < width && y + 1 < height) {
        value += COURANT / permittivity[i] * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - width]));
    }
    if (x == width / 2 && y == height / 2) value += pulse[step];
    ez[i] = value;
}

#define CUDA_CALL(call)                                                          \
    do {                                                                         \
        if (cudaError_t failure = (call)) {                                      \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(failure));     \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

static void readFloats(const char* path, std::vector<float>& values) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), 4, values.size(), file) != values.size() || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu float32 values\n", path, values.size());
        exit(1);
    }
    fclose(file);
}

static void writeFloats(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    CUDA_CALL(cudaMemcpy(values.data(), device, count * 4, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), 4, count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: write failed\n", path);
        exit(1);
    }
}

int main() {
    int sizes[3];
    FILE* file = fopen("data/sizes.bin", "rb");
    if (!file || fread(sizes, sizeof(int), 3, file) != 3 || fgetc(file) != EOF) {
        fprintf(stderr, "data/sizes.bin: expected three int32 values\n");
        return 1;
    }
    fclose(file);
    const int height = sizes[0], width = sizes[1], steps = sizes[2];
    if (height < 2 || height > 2048 || width < 2 || width > 2048 || steps < 1 || steps > 1000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t cells = static_cast<size_t>(height) * width;
    std::vector<float> permittivity(cells), pulse(steps);
    readFloats("data/permittivity.bin", permittivity);
    readFloats("data/pulse.bin", pulse);

    float *fields, *dPermittivity, *dPulse;
    CUDA_CALL(cudaMalloc(&fields, 3 * cells * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dPermittivity, cells * sizeof(float)));
    CUDA_CALL(cudaMalloc(&dPulse, steps * sizeof(float)));
    CUDA_CALL(cudaMemset(fields, 0, 3 * cells * sizeof(float)));
    CUDA_CALL(cudaMemcpy(dPermittivity, permittivity.data(), cells * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(dPulse, pulse.data(), steps * sizeof(float), cudaMemcpyHostToDevice));
    float *ez = fields, *hx = fields + cells, *hy = fields + 2 * cells;

    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    for (int step = 0; step < steps; ++step) {
        stepMagnetic<<<grid, block>>>(ez, hx, hy, height, width);
        stepElectric<<<grid, block>>>(ez, hx, hy, dPermittivity, dPulse, step, height, width);
    }
    CUDA_CALL(cudaGetLastError());
    writeFloats("data/ez.bin", ez, cells);
    writeFloats("data/hx.bin", hx, cells);
    writeFloats("data/hy.bin", hy, cells);
    for (float* pointer : {fields, dPermittivity, dPulse}) CUDA_CALL(cudaFree(pointer));
    return 0;
}
