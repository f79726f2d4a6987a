#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Fields {
    float ex, ey, ez, bx, by, bz, growth, step;
};

__device__ __forceinline__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float3 axpy(float s, float3 a, float3 b) {
    return make_float3(fmaf(s, a.x, b.x), fmaf(s, a.y, b.y), fmaf(s, a.z, b.z));
}

__global__ void __launch_bounds__(128)
    push(const float* __restrict__ state, const float* __restrict__ ratio, float* __restrict__ finalState,
         float* __restrict__ energy, Fields f, int particles, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    const float* in = state + 6 * static_cast<size_t>(i);
    float3 x = make_float3(in[0], in[1], in[2]), v = make_float3(in[3], in[4], in[5]);
    const float half = 0.5f * f.step * ratio[i];
    const float3 electric = make_float3(f.ex, f.ey, f.ez);
    for (int step = 0; step < steps; ++step) {
        v = axpy(half, electric, v);
        const float3 t = make_float3(half * f.bx, half * f.by, half * (f.bz + f.growth * x.x));
        const float3 turned = axpy(1.0f, cross(v, t), v);
        const float s = 2.0f / (1.0f + t.x * t.x + t.y * t.y + t.z * t.z);
        v = axpy(s, cross(turned, t), v);
        v = axpy(half, electric, v);
        x = axpy(f.step, v, x);
    }
    float* out = finalState + 6 * static_cast<size_t>(i);
    out[0] = x.x;
    out[1] = x.y;
    out[2] = x.z;
    out[3] = v.x;
    out[4] = v.y;
    out[5] = v.z;
    energy[i] = 0.5f * (v.x * v.x + v.y * v.y + v.z * v.z);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> read(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be opened");
    const bool exact = fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    if (!exact) throw std::runtime_error(std::string(path) + ": has the wrong length");
    return values;
}

static float* toDevice(const std::vector<float>& values) {
    float* pointer;
    check(cudaMalloc(&pointer, values.size() * sizeof(float)), "cudaMalloc");
    check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice), "upload");
    return pointer;
}

static void write(const char* path, float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost), "download");
    FILE* file = fopen(path, "wb");
    const bool good = file && fwrite(values.data(), sizeof(float), count, file) == count;
    if (!file || fclose(file) != 0 || !good) throw std::runtime_error(std::string(path) + ": cannot be written");
}

int main() {
    try {
        const auto sizes = read<int>("data/sizes.bin", 2);
        const int particles = sizes[0], steps = sizes[1];
        if (particles < 1 || particles > 400000 || steps < 1 || steps > 5000) throw std::runtime_error("bad sizes");
        const size_t count = particles;
        float* state = toDevice(read<float>("data/state.bin", 6 * count));
        float* ratio = toDevice(read<float>("data/ratio.bin", count));
        const auto f = read<float>("data/fields.bin", 8);
        float *finalState, *energy;
        check(cudaMalloc(&finalState, 6 * count * sizeof(float)), "cudaMalloc");
        check(cudaMalloc(&energy, count * sizeof(float)), "cudaMalloc");
        const Fields fields{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]};
        push<<<(particles + 127) / 128, 128>>>(state, ratio, finalState, energy, fields, particles, steps);
        check(cudaGetLastError(), "push");
        write("data/final_state.bin", finalState, 6 * count);
        write("data/energy.bin", energy, count);
        for (float* pointer : {state, ratio, finalState, energy}) check(cudaFree(pointer), "cudaFree");
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
