#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Fluid {
    float h, rest, stiffness;
};

__device__ __forceinline__ float spline(float q, float h) {
    const float norm = 2.5464791f / (h * h * h), away = fmaxf(1.0f - q, 0.0f);
    return norm * (q <= 0.5f ? 6.0f * q * q * (q - 1.0f) + 1.0f : 2.0f * away * away * away);
}

__device__ __forceinline__ float splineSlope(float q, float h) {
    const float norm = 2.5464791f / (h * h * h * h), away = fmaxf(1.0f - q, 0.0f);
    return norm * (q <= 0.5f ? 6.0f * q * (3.0f * q - 2.0f) : -6.0f * away * away);
}

__device__ __forceinline__ float distance(float4 a, float4 b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrtf(x * x + y * y + z * z);
}

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status_ = (call);                                                     \
        if (status_ != cudaSuccess) {                                                     \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status_));      \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

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

template <typename T>
static T* toDevice(const std::vector<T>& values) {
    T* device;
    CUDA_CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(float), count, file) != count || fclose(file) != 0) exit(1);
}

__global__ void computeDensity(const float4* positions, const int* offsets, const int* neighbors, Fluid f,
                               float* density, int particles) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    float sum = positions[i].w * spline(0.0f, f.h);
    for (int k = offsets[i]; k < offsets[i + 1]; ++k) {
        const float4 other = positions[neighbors[k]];
        sum += other.w * spline(distance(positions[i], other) / f.h, f.h);
    }
    density[i] = sum;
}

__global__ void accelerate(const float4* positions, const int* offsets, const int* neighbors, Fluid f,
                           const float* density, float* acceleration, int particles) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    const float4 own = positions[i];
    const float pressure = f.stiffness * (density[i] - f.rest);
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = offsets[i]; k < offsets[i + 1]; ++k) {
        const int j = neighbors[k];
        const float4 other = positions[j];
        const float r = distance(own, other), theirs = f.stiffness * (density[j] - f.rest);
        if (r == 0.0f) continue;
        const float term = pressure / (density[i] * density[i]) + theirs / (density[j] * density[j]);
        const float scale = other.w * term * splineSlope(r / f.h, f.h) / r;
        x -= scale * (own.x - other.x);
        y -= scale * (own.y - other.y);
        z -= scale * (own.z - other.z);
    }
    acceleration[3 * i] = x;
    acceleration[3 * i + 1] = y;
    acceleration[3 * i + 2] = z;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int particles = sizes[0], entries = sizes[1];
    if (particles < 1 || particles > 200000 || entries < 1 || entries > 3000000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto hostOffsets = readFile<int>("data/offsets.bin", particles + 1);
    const auto hostNeighbors = readFile<int>("data/neighbors.bin", entries);
    if (hostOffsets[0] != 0 || hostOffsets[particles] != entries) return 1;
    for (int j : hostNeighbors) {
        if (j < 0 || j >= particles) return 1;
    }
    float* flat = toDevice(readFile<float>("data/positions.bin", 4 * static_cast<size_t>(particles)));
    const auto constants = readFile<float>("data/constants.bin", 3);
    const Fluid fluid{constants[0], constants[1], constants[2]};
    const float4* positions = reinterpret_cast<const float4*>(flat);
    int *offsets = toDevice(hostOffsets), *neighbors = toDevice(hostNeighbors);
    float *density, *acceleration;
    CUDA_CHECK(cudaMalloc(&density, particles * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&acceleration, 3 * particles * sizeof(float)));
    const int blocks = (particles + 127) / 128;
    computeDensity<<<blocks, 128>>>(positions, offsets, neighbors, fluid, density, particles);
    accelerate<<<blocks, 128>>>(positions, offsets, neighbors, fluid, density, acceleration, particles);
    CUDA_CHECK(cudaGetLastError());
    writeFile("data/density.bin", density, particles);
    writeFile("data/acceleration.bin", acceleration, 3 * static_cast<size_t>(particles));
    for (float* pointer : {flat, density, acceleration}) CUDA_CHECK(cudaFree(pointer));
    for (int* pointer : {offsets, neighbors}) CUDA_CHECK(cudaFree(pointer));
    return 0;
}
