#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// A quaternion (x: the real part; y, z, w: the vector) as it stands in the files.
__device__ __forceinline__ float4 multiply(float4 a, float4 b) {
    return make_float4(a.x * b.x - a.y * b.y - a.z * b.z - a.w * b.w, a.x * b.y + a.y * b.x + a.z * b.w - a.w * b.z,
                       a.x * b.z + a.z * b.x + a.w * b.y - a.y * b.w, a.x * b.w + a.w * b.x + a.y * b.z - a.z * b.y);
}

__device__ __forceinline__ float4 normalised(float4 q) {
    const float scale = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return make_float4(q.x * scale, q.y * scale, q.z * scale, q.w * scale);
}

// The angular velocity in the body's frame, as a quaternion without real part.
__device__ __forceinline__ float4 spinOf(float4 q, float4 momentum, const float (&inverse)[3]) {
    const float4 conjugate = make_float4(q.x, -q.y, -q.z, -q.w);
    const float4 inside = multiply(multiply(conjugate, momentum), q);
    return make_float4(0.0f, inside.y * inverse[0], inside.z * inverse[1], inside.w * inverse[2]);
}

__device__ __forceinline__ float4 advanced(float4 q, float4 at, float4 spin, float h) {
    const float4 rate = multiply(at, spin);
    const float s = 0.5f * h;
    return normalised(make_float4(q.x + s * rate.x, q.y + s * rate.y, q.z + s * rate.z, q.w + s * rate.w));
}

__global__ void rotate(const float* __restrict__ inertia, const float* __restrict__ momenta,
                       float4* __restrict__ orientation, float* __restrict__ spins, float h, int bodies, int steps) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < bodies; i += gridDim.x * blockDim.x) {
        const float inverse[3] = {1.0f / inertia[3 * i], 1.0f / inertia[3 * i + 1], 1.0f / inertia[3 * i + 2]};
        const float4 momentum = make_float4(0.0f, momenta[3 * i], momenta[3 * i + 1], momenta[3 * i + 2]);
        float4 q = orientation[i];
        for (int step = 0; step < steps; ++step) {
            const float4 middle = advanced(q, q, spinOf(q, momentum, inverse), 0.5f * h);
            q = advanced(q, middle, spinOf(middle, momentum, inverse), h);
        }
        const float4 spin = spinOf(q, momentum, inverse);
        orientation[i] = q;
        spins[3 * i] = spin.y;
        spins[3 * i + 1] = spin.z;
        spins[3 * i + 2] = spin.w;
    }
}

static void must(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}
static void must(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static T* read(const char* path, size_t count) {
    T* values;
    must(cudaMallocManaged(&values, count * sizeof(T)));
    FILE* file = fopen(path, "rb");
    must(file && fread(values, sizeof(T), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

static void write(const char* path, const float* values, size_t count) {
    FILE* file = fopen(path, "wb");
    must(file && fwrite(values, sizeof(float), count, file) == count && fclose(file) == 0, path);
}

int main() {
    int* sizes = read<int>("data/sizes.bin", 2);
    const int bodies = sizes[0], steps = sizes[1];
    must(bodies >= 1 && bodies <= 200000 && steps >= 1 && steps <= 1000, "data/sizes.bin: out of range");
    float* inertia = read<float>("data/inertia.bin", 3 * static_cast<size_t>(bodies));
    float* momentum = read<float>("data/momentum.bin", 3 * static_cast<size_t>(bodies));
    float* orientation = read<float>("data/orientation.bin", 4 * static_cast<size_t>(bodies));
    float* stepSize = read<float>("data/step_size.bin", 1);
    float* spins;
    must(cudaMallocManaged(&spins, 3 * static_cast<size_t>(bodies) * sizeof(float)));
    const int blocks = (bodies + 127) / 128;
    rotate<<<blocks < 2048 ? blocks : 2048, 128>>>(inertia, momentum, reinterpret_cast<float4*>(orientation), spins,
                                                   *stepSize, bodies, steps);
    must(cudaGetLastError());
    must(cudaDeviceSynchronize());
    write("data/orientation_out.bin", orientation, 4 * static_cast<size_t>(bodies));
    write("data/spin_out.bin", spins, 3 * static_cast<size_t>(bodies));
    must(cudaFree(sizes));
    for (float* pointer : {inertia, momentum, orientation, stepSize, spins}) must(cudaFree(pointer));
    return 0;
}
