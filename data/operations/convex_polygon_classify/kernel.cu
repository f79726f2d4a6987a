#include <cmath>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int COUNT = 10;
const int SIDES = 8;
const int N = 1500;
const int BLOCK = 128;

// A block stays with one polygon, whose sides it keeps in shared memory; the smallest cross product decides.
__global__ void classify_points(const float2* __restrict__ polygons, const float2* __restrict__ points,
                                int* __restrict__ where) {
    __shared__ float4 side[SIDES];
    const float2* corner = polygons + blockIdx.y * SIDES;
    for (int j = threadIdx.x; j < SIDES; j += BLOCK) {
        float2 a = corner[j];
        float2 b = corner[j + 1 < SIDES ? j + 1 : 0];
        side[j] = make_float4(a.x, a.y, b.x - a.x, b.y - a.y);
    }
    __syncthreads();

    size_t base = (size_t)blockIdx.y * N;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        float2 p = points[base + i];
        float low = INFINITY;
        for (int j = 0; j < SIDES; ++j) {
            float4 s = side[j];
            low = fminf(low, s.z * (p.y - s.y) - s.w * (p.x - s.x));
        }
        where[base + i] = (low > 0.0f) - (low < 0.0f);
    }
}

int main() {
    float *polygons, *points;
    int *where;
    cudaMallocManaged(&polygons, sizeof(float) * COUNT * SIDES * 2);
    cudaMallocManaged(&points, sizeof(float) * COUNT * N * 2);
    cudaMallocManaged(&where, sizeof(int) * COUNT * N);

    std::ifstream in_polygons("data/polygons.bin", std::ios::binary);
    if (!in_polygons.read((char*)polygons, sizeof(float) * COUNT * SIDES * 2)) {
        std::cerr << "cannot read data/polygons.bin\n";
        return 1;
    }
    std::ifstream in_points("data/points.bin", std::ios::binary);
    if (!in_points.read((char*)points, sizeof(float) * COUNT * N * 2)) {
        std::cerr << "cannot read data/points.bin\n";
        return 1;
    }

    int across = (N + BLOCK - 1) / BLOCK;
    if (across > 32) across = 32;
    classify_points<<<dim3(across, COUNT), BLOCK>>>((const float2*)polygons, (const float2*)points, where);

    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    std::ofstream out("data/where.bin", std::ios::binary);
    out.write((const char*)where, sizeof(int) * COUNT * N);

    cudaFree(polygons);
    cudaFree(points);
    cudaFree(where);
    return 0;
}
