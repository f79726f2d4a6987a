#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int NZ = 61, NY = 70, NX = 93;
constexpr int BX = 32, BY = 8;

__constant__ float weight[3];

__device__ __forceinline__ float fetch(const float* __restrict__ volume, int z, int y, int x) {
    bool inside = z >= 0 && z < NZ && y >= 0 && y < NY && x >= 0 && x < NX;
    return inside ? volume[(z * NY + y) * NX + x] : 0.0f;
}

__global__ void stencil7(const float* __restrict__ volume, float* __restrict__ filtered) {
    __shared__ float plane[BY + 2][BX + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;

    float below = 0.0f;
    float centre = fetch(volume, 0, y, x);
    for (int z = 0; z < NZ; ++z) {
        float above = fetch(volume, z + 1, y, x);

        plane[ty][tx] = centre;
        if (threadIdx.x == 0) plane[ty][0] = fetch(volume, z, y, x - 1);
        if (threadIdx.x == BX - 1) plane[ty][BX + 1] = fetch(volume, z, y, x + 1);
        if (threadIdx.y == 0) plane[0][tx] = fetch(volume, z, y - 1, x);
        if (threadIdx.y == BY - 1) plane[BY + 1][tx] = fetch(volume, z, y + 1, x);
        __syncthreads();

        if (x < NX && y < NY) {
            float side = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
            filtered[(z * NY + y) * NX + x] = weight[0] * centre + weight[1] * side + weight[2] * (below + above);
        }
        __syncthreads();

        below = centre;
        centre = above;
    }
}

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) {
        fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
#define CHECK(call) check((call), __LINE__)

static std::vector<float> read(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(float)) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, count * sizeof(float));
        exit(EXIT_FAILURE);
    }
    std::vector<float> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(float));
    if (!in) {
        fprintf(stderr, "%s: read error\n", path);
        exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const size_t count = size_t(NZ) * NY * NX;
    std::vector<float> volume = read("data/volume.bin", count);
    std::vector<float> weights = read("data/weights.bin", 3);
    CHECK(cudaMemcpyToSymbol(weight, weights.data(), sizeof(weight)));

    float *dVolume = nullptr, *dFiltered = nullptr;
    CHECK(cudaMalloc(&dVolume, count * sizeof(float)));
    CHECK(cudaMalloc(&dFiltered, count * sizeof(float)));
    CHECK(cudaMemcpy(dVolume, volume.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(BX, BY);
    dim3 grid((NX + BX - 1) / BX, (NY + BY - 1) / BY);
    stencil7<<<grid, block>>>(dVolume, dFiltered);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(volume.data(), dFiltered, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dVolume));
    CHECK(cudaFree(dFiltered));

    std::ofstream out("data/filtered.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(volume.data()), count * sizeof(float));
    out.close();
    return out ? EXIT_SUCCESS : EXIT_FAILURE;
}
