#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int BX = 32, BY = 8;
constexpr int MAX_SIZE = 1024;  // 2^30 points, so that a point's number fits an int

struct Volume {
    int nz, ny, nx;
};

__constant__ float weight[3];

__device__ __forceinline__ float fetch(const float* __restrict__ volume, Volume v, int z, int y, int x) {
    bool inside = z >= 0 && z < v.nz && y >= 0 && y < v.ny && x >= 0 && x < v.nx;
    return inside ? volume[(z * v.ny + y) * v.nx + x] : 0.0f;
}

__global__ void stencil7(const float* __restrict__ volume, float* __restrict__ filtered, Volume v) {
    __shared__ float plane[BY + 2][BX + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;

    float below = 0.0f;
    float centre = fetch(volume, v, 0, y, x);
    for (int z = 0; z < v.nz; ++z) {
        float above = fetch(volume, v, z + 1, y, x);

        plane[ty][tx] = centre;
        if (threadIdx.x == 0) plane[ty][0] = fetch(volume, v, z, y, x - 1);
        if (threadIdx.x == BX - 1) plane[ty][BX + 1] = fetch(volume, v, z, y, x + 1);
        if (threadIdx.y == 0) plane[0][tx] = fetch(volume, v, z, y - 1, x);
        if (threadIdx.y == BY - 1) plane[BY + 1][tx] = fetch(volume, v, z, y + 1, x);
        __syncthreads();

        if (x < v.nx && y < v.ny) {
            float side = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
            filtered[(z * v.ny + y) * v.nx + x] = weight[0] * centre + weight[1] * side + weight[2] * (below + above);
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

template <typename T>
static std::vector<T> read(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, count * sizeof(T));
        exit(EXIT_FAILURE);
    }
    std::vector<T> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        fprintf(stderr, "%s: read error\n", path);
        exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const std::vector<int> sizes = read<int>("data/sizes.bin", 3);
    for (int size : sizes) {
        if (size < 1 || size > MAX_SIZE) {
            fprintf(stderr, "data/sizes.bin: %d is not between 1 and %d\n", size, MAX_SIZE);
            return EXIT_FAILURE;
        }
    }
    const Volume v{sizes[0], sizes[1], sizes[2]};
    const size_t count = size_t(v.nz) * v.ny * v.nx;
    std::vector<float> volume = read<float>("data/volume.bin", count);
    const std::vector<float> weights = read<float>("data/weights.bin", 3);
    CHECK(cudaMemcpyToSymbol(weight, weights.data(), sizeof(weight)));

    float *dVolume = nullptr, *dFiltered = nullptr;
    CHECK(cudaMalloc(&dVolume, count * sizeof(float)));
    CHECK(cudaMalloc(&dFiltered, count * sizeof(float)));
    CHECK(cudaMemcpy(dVolume, volume.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(BX, BY);
    dim3 grid((v.nx + BX - 1) / BX, (v.ny + BY - 1) / BY);
    stencil7<<<grid, block>>>(dVolume, dFiltered, v);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(volume.data(), dFiltered, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dVolume));
    CHECK(cudaFree(dFiltered));

    std::ofstream out("data/filtered.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(volume.data()), count * sizeof(float));
    out.close();
    return out ? EXIT_SUCCESS : EXIT_FAILURE;
}
