#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ void addScaled(float4& sum, float factor, float4 q) {
    sum.x += factor * q.x;
    sum.y += factor * q.y;
    sum.z += factor * q.z;
    sum.w += factor * q.w;
}

// Quaternions (w, x, y, z) lie in .x, .y, .z, .w of a float4.
__global__ void skin(const float* __restrict__ position, const uchar4* __restrict__ joint,
                     const uchar4* __restrict__ weight, const float4* __restrict__ motion, int vertices, int joints,
                     float* __restrict__ skinned) {
    extern __shared__ float4 table[];
    for (int i = threadIdx.x; i < 2 * joints; i += kThreads) table[i] = motion[i];
    __syncthreads();

    for (int v = blockIdx.x * kThreads + threadIdx.x; v < vertices; v += gridDim.x * kThreads) {
        const uchar4 j = joint[v], w = weight[v];
        const int which[4] = {j.x, j.y, j.z, j.w};
        const float factor[4] = {float(w.x), float(w.y), float(w.z), float(w.w)};
        const float4 pivot = table[2 * which[0]];
        float4 r = make_float4(0.0f, 0.0f, 0.0f, 0.0f), d = r;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float4 q = table[2 * which[k]];
            const float dot = q.x * pivot.x + q.y * pivot.y + q.z * pivot.z + q.w * pivot.w;
            const float s = dot < 0.0f ? -factor[k] : factor[k];
            addScaled(r, s, q);
            addScaled(d, s, table[2 * which[k] + 1]);
        }
        const float scale = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
        const float rw = scale * r.x, dw = scale * d.x;
        const float3 rv = make_float3(scale * r.y, scale * r.z, scale * r.w);
        const float3 dv = make_float3(scale * d.y, scale * d.z, scale * d.w);
        const float3 p = make_float3(position[3 * v], position[3 * v + 1], position[3 * v + 2]);
        float3 inner = cross(rv, p);
        inner = make_float3(inner.x + rw * p.x, inner.y + rw * p.y, inner.z + rw * p.z);
        const float3 turn = cross(rv, inner), twist = cross(rv, dv);
        skinned[3 * v] = p.x + 2.0f * (turn.x + rw * dv.x - dw * rv.x + twist.x);
        skinned[3 * v + 1] = p.y + 2.0f * (turn.y + rw * dv.y - dw * rv.y + twist.y);
        skinned[3 * v + 2] = p.z + 2.0f * (turn.z + rw * dv.z - dw * rv.z + twist.z);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Free {
    void operator()(void* pointer) const { cudaFree(pointer); }
};

template <typename T>
using Device = std::unique_ptr<T, Free>;

template <typename T>
static Device<T> allocate(size_t count) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(T)));
    return Device<T>(pointer);
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong length");
    return values;
}

template <typename T>
static Device<T> upload(const std::vector<T>& values) {
    Device<T> device = allocate<T>(values.size());
    check(cudaMemcpy(device.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int vertices = sizes[0], joints = sizes[1];
    if (vertices < 1 || vertices > 4194304 || joints < 1 || joints > 256)
        throw std::runtime_error("data/sizes.bin: out of range");
    const auto position = readFile<float>("data/position.bin", 3 * static_cast<size_t>(vertices));
    const auto joint = readFile<uchar4>("data/joint.bin", vertices);
    const auto weight = readFile<uchar4>("data/weight.bin", vertices);
    const auto motion = readFile<float4>("data/motion.bin", 2 * static_cast<size_t>(joints));
    for (const uchar4& j : joint) {
        if (std::max({j.x, j.y, j.z, j.w}) >= joints) throw std::runtime_error("data/joint.bin: no such joint");
    }

    const auto dPosition = upload(position);
    const auto dJoint = upload(joint), dWeight = upload(weight);
    const auto dMotion = upload(motion);
    const auto dSkinned = allocate<float>(position.size());
    const int blocks = std::min((vertices + kThreads - 1) / kThreads, 2048);
    const size_t shared = 2 * joints * sizeof(float4);
    skin<<<blocks, kThreads, shared>>>(dPosition.get(), dJoint.get(), dWeight.get(), dMotion.get(), vertices, joints,
                                       dSkinned.get());
    check(cudaGetLastError());
    std::vector<float> skinned(position.size());
    check(cudaMemcpy(skinned.data(), dSkinned.get(), skinned.size() * sizeof(float), cudaMemcpyDeviceToHost));

    std::ofstream out("data/skinned.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(skinned.data()), static_cast<std::streamsize>(4 * skinned.size()));
    out.close();
    if (!out) throw std::runtime_error("data/skinned.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
