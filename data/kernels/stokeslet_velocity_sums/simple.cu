#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CALL(expression)                                                                 \
    do {                                                                                 \
        cudaError_t status = (expression);                                               \
        if (status != cudaSuccess) {                                                     \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));      \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

static float* toDevice(const std::vector<float>& values) {
    float* device;
    CALL(cudaMalloc(&device, values.size() * sizeof(float)));
    CALL(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

// Adds the flow at `at` of the force f in x, without the factor 1 / (8 pi).
__device__ __forceinline__ void addFlow(float3 at, float3 x, float3 f, float square, float3& sum) {
    const float dx = at.x - x.x, dy = at.y - x.y, dz = at.z - x.z;
    const float r2 = dx * dx + dy * dy + dz * dz, inverse = rsqrtf(r2 + square);
    const float cube = inverse * inverse * inverse;
    const float along = (dx * f.x + dy * f.y + dz * f.z) * cube, near = (r2 + 2.0f * square) * cube;
    sum.x += near * f.x + along * dx;
    sum.y += near * f.y + along * dy;
    sum.z += near * f.z + along * dz;
}

constexpr float INVERSE_8_PI = 0.039788736f;

__global__ void computeFlow(const float* targets, const float* sources, float* velocity, float square, int targetCount,
                            int sourceCount) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= targetCount) return;
    const float3 at = make_float3(targets[3 * i], targets[3 * i + 1], targets[3 * i + 2]);
    double x = 0.0, y = 0.0, z = 0.0;
    for (int k = 0; k < sourceCount; ++k) {
        const float* s = sources + 6 * static_cast<size_t>(k);
        float3 one = make_float3(0.0f, 0.0f, 0.0f);
        addFlow(at, make_float3(s[0], s[1], s[2]), make_float3(s[3], s[4], s[5]), square, one);
        x += one.x;
        y += one.y;
        z += one.z;
    }
    velocity[3 * i] = static_cast<float>(x) * INVERSE_8_PI;
    velocity[3 * i + 1] = static_cast<float>(y) * INVERSE_8_PI;
    velocity[3 * i + 2] = static_cast<float>(z) * INVERSE_8_PI;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int targets = sizes[0], sources = sizes[1];
    if (targets < 1 || targets > 100000 || sources < 1 || sources > 100000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    float* target = toDevice(readFile<float>("data/target.bin", 3 * static_cast<size_t>(targets)));
    float* source = toDevice(readFile<float>("data/source.bin", 6 * static_cast<size_t>(sources)));
    const float epsilon = readFile<float>("data/epsilon.bin", 1)[0];
    std::vector<float> host(3 * static_cast<size_t>(targets));
    float* velocity;
    CALL(cudaMalloc(&velocity, host.size() * sizeof(float)));
    computeFlow<<<(targets + 127) / 128, 128>>>(target, source, velocity, epsilon * epsilon, targets, sources);
    CALL(cudaGetLastError());
    CALL(cudaMemcpy(host.data(), velocity, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* pointer : {target, source, velocity}) CALL(cudaFree(pointer));
    FILE* file = fopen("data/velocity.bin", "wb");
    if (!file || fwrite(host.data(), sizeof(float), host.size(), file) != host.size() || fclose(file) != 0) return 1;
    return 0;
}
