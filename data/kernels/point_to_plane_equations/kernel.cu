#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxPoints = 1 << 21;
constexpr int kThreads = 128, kMaxBlocks = 512;
constexpr int kTriangle = 21, kSums = kTriangle + 6;

__global__ void accumulate(const float3* __restrict__ points, const float3* __restrict__ anchors,
                           const float3* __restrict__ normals, const float* __restrict__ weights, int n,
                           double* sums) {
    double part[kSums] = {};
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const double w = weights[i];
        if (w == 0.0) continue;
        const float3 p = points[i], q = anchors[i], m = normals[i];
        const double px = p.x, py = p.y, pz = p.z;
        const double j[6] = {py * m.z - pz * m.y, pz * m.x - px * m.z, px * m.y - py * m.x, m.x, m.y, m.z};
        const double r = (px - q.x) * j[3] + (py - q.y) * j[4] + (pz - q.z) * j[5];
        int s = 0;
#pragma unroll
        for (int a = 0; a < 6; ++a) {
#pragma unroll
            for (int b = a; b < 6; ++b) part[s++] += w * j[a] * j[b];
        }
#pragma unroll
        for (int a = 0; a < 6; ++a) part[kTriangle + a] += w * r * j[a];
    }
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
        const double total = cg::reduce(warp, part[s], cg::plus<double>());
        if (warp.thread_rank() == 0) atomicAdd(&sums[s], total);
    }
}

#define TRY(call)                                                                \
    if (cudaError_t e = (call)) {                                                \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
        return EXIT_FAILURE;                                                     \
    }

// The file's values, or an empty vector if it has another number of them.
static std::vector<float> readFloats(const char* path, size_t count) {
    std::vector<float> values(count + 1);
    FILE* file = fopen(path, "rb");
    const size_t got = file ? fread(values.data(), 1, (count + 1) * sizeof(float), file) : 0;
    if (file) fclose(file);
    values.resize(got == count * sizeof(float) ? count : 0);
    if (values.empty()) fprintf(stderr, "%s: expected %zu floats\n", path, count);
    return values;
}

static bool writeDoubles(const char* path, const double* values, size_t count) {
    FILE* file = fopen(path, "wb");
    if (!file) return false;
    const bool whole = fwrite(values, sizeof(double), count, file) == count;
    return fclose(file) == 0 && whole;
}

int main() {
    int n = 0, extra = 0;
    FILE* file = fopen("data/sizes.bin", "rb");
    const bool read = file && fread(&n, 4, 1, file) == 1 && fread(&extra, 1, 1, file) == 0;
    if (file) fclose(file);
    if (!read || n < 1 || n > kMaxPoints) {
        fprintf(stderr, "data/sizes.bin: expected one value from 1 to %d\n", kMaxPoints);
        return EXIT_FAILURE;
    }
    const char* paths[4] = {"data/points.bin", "data/anchors.bin", "data/normals.bin", "data/weights.bin"};
    void* device[4];
    for (int k = 0; k < 4; ++k) {
        const std::vector<float> values = readFloats(paths[k], static_cast<size_t>(n) * (k < 3 ? 3 : 1));
        if (values.empty()) return EXIT_FAILURE;
        TRY(cudaMalloc(&device[k], values.size() * sizeof(float)));
        TRY(cudaMemcpy(device[k], values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    }
    double *dSums, sums[kSums];
    TRY(cudaMalloc(&dSums, sizeof sums));
    TRY(cudaMemset(dSums, 0, sizeof sums));
    const int blocks = (n + kThreads - 1) / kThreads;
    accumulate<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads>>>(
        static_cast<float3*>(device[0]), static_cast<float3*>(device[1]), static_cast<float3*>(device[2]),
        static_cast<float*>(device[3]), n, dSums);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(sums, dSums, sizeof sums, cudaMemcpyDeviceToHost));

    double matrix[36], vector[6];
    for (int a = 0, s = 0; a < 6; ++a) {
        vector[a] = -sums[kTriangle + a];
        for (int b = a; b < 6; ++b) matrix[6 * a + b] = matrix[6 * b + a] = sums[s++];
    }
    if (!writeDoubles("data/matrix.bin", matrix, 36) || !writeDoubles("data/vector.bin", vector, 6)) {
        fprintf(stderr, "the results cannot be written\n");
        return EXIT_FAILURE;
    }
    for (void* buffer : device) TRY(cudaFree(buffer));
    TRY(cudaFree(dSums));
    return EXIT_SUCCESS;
}
