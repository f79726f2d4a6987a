#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr int kWarps = 8;
constexpr int kMaxBins = 32;

__device__ float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ float3 cross3(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ float3 scaled(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }

__device__ float3 load3(const float* values, int i) {
    const float* at = values + 3 * static_cast<size_t>(i);
    return make_float3(at[0], at[1], at[2]);
}

// Splits `weight` between the two bins whose centres are next to `fraction` (0 to 1 across all bins).
__device__ void spread(float* histogram, float fraction, float weight, int bins, bool circular) {
    const float place = fraction * bins - 0.5f;
    const float below = floorf(place);
    const float share = place - below;
    int left = static_cast<int>(below), right = left + 1;
    if (circular) {
        left = (left + bins) % bins;
        right = (right + bins) % bins;
    } else {
        left = min(max(left, 0), bins - 1);
        right = min(max(right, 0), bins - 1);
    }
    atomicAdd(&histogram[left], weight * (1.0f - share));
    atomicAdd(&histogram[right], weight * share);
}

__global__ void pairFeatures(const float* __restrict__ cloud, const float* __restrict__ normals,
                             const int* __restrict__ index, float* __restrict__ features, int points, int neighbors,
                             int bins) {
    __shared__ float histograms[kWarps][3 * kMaxBins];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = blockIdx.x * kWarps + warp;
    if (i >= points) return;  // a whole warp; no barrier of the block follows
    float* histogram = histograms[warp];
    for (int b = lane; b < 3 * bins; b += 32) histogram[b] = 0.0f;
    __syncwarp();

    const float3 p = load3(cloud, i), u = load3(normals, i);
    float total = 0.0f;
    for (int k = lane; k < neighbors; k += 32) {
        const int j = index[static_cast<size_t>(i) * neighbors + k];
        if (j < 0) continue;
        const float3 q = load3(cloud, j), n = load3(normals, j);
        float3 d = make_float3(q.x - p.x, q.y - p.y, q.z - p.z);
        const float square = dot3(d, d);
        if (square == 0.0f) continue;
        d = scaled(d, rsqrtf(square));
        float3 v = cross3(d, u);
        const float sine = sqrtf(dot3(v, v));
        if (sine <= 1e-6f) continue;
        v = scaled(v, 1.0f / sine);
        const float3 w = cross3(u, v);
        spread(histogram, 0.5f * dot3(v, n) + 0.5f, sine, bins, false);
        spread(histogram + bins, 0.5f * dot3(u, d) + 0.5f, sine, bins, false);
        const float turn = atan2f(dot3(w, n), dot3(u, n)) * 0.15915494f;  // of a full circle, -1/2 to 1/2
        spread(histogram + 2 * bins, turn + 0.5f, sine, bins, true);
        total += sine;
    }
    for (int s = 16; s > 0; s /= 2) total += __shfl_xor_sync(0xffffffffu, total, s);
    __syncwarp();
    const float scale = total > 0.0f ? 1.0f / total : 0.0f;
    float* out = features + static_cast<size_t>(i) * 3 * bins;
    for (int b = lane; b < 3 * bins; b += 32) out[b] = histogram[b] * scale;
}

[[noreturn]] static void fail(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

static void cuda(cudaError_t status, int line) {
    if (status != cudaSuccess) fail("line " + std::to_string(line) + ": " + cudaGetErrorString(status));
}
#define CUDA(call) cuda((call), __LINE__)

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) fail(path + ": missing");
    const bool complete = std::fread(values.data(), sizeof(T), count, file) == count && std::fgetc(file) == EOF;
    std::fclose(file);
    if (!complete) fail(path + ": expected " + std::to_string(count) + " values");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device;
    CUDA(cudaMalloc(&device, values.size() * sizeof(T)));
    CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
    const int points = sizes[0], neighbors = sizes[1], bins = sizes[2];
    if (points < 1 || points > 500000 || neighbors < 1 || neighbors > 64 || bins < 2 || bins > kMaxBins) {
        fail("data/sizes.bin: a size out of range");
    }
    const auto cloud = readFile<float>("data/cloud.bin", 3 * static_cast<size_t>(points));
    const auto normals = readFile<float>("data/normals.bin", 3 * static_cast<size_t>(points));
    const auto index = readFile<int>("data/index.bin", static_cast<size_t>(points) * neighbors);
    for (int i : index) {
        if (i < -1 || i >= points) fail("data/index.bin: " + std::to_string(i) + " is no point");
    }
    float *dCloud = upload(cloud), *dNormals = upload(normals), *dFeatures;
    int* dIndex = upload(index);
    std::vector<float> features(static_cast<size_t>(points) * 3 * bins);
    CUDA(cudaMalloc(&dFeatures, features.size() * sizeof(float)));
    pairFeatures<<<(points + kWarps - 1) / kWarps, 32 * kWarps>>>(dCloud, dNormals, dIndex, dFeatures, points,
                                                                  neighbors, bins);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(features.data(), dFeatures, features.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* buffer : {dCloud, dNormals, dFeatures}) CUDA(cudaFree(buffer));
    CUDA(cudaFree(dIndex));

    std::FILE* file = std::fopen("data/features.bin", "wb");
    if (!file || std::fwrite(features.data(), sizeof(float), features.size(), file) != features.size()) {
        fail("data/features.bin: cannot be written");
    }
    if (std::fclose(file) != 0) fail("data/features.bin: cannot be closed");
    return 0;
}
