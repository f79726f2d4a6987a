#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxSide = 256, kBlockX = 64, kBlockY = 4;

__global__ void octants(const short2* __restrict__ volume, int* __restrict__ bands, int depth, int height, int width) {
    const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y, z = blockIdx.z;
    if (x >= width || y >= height) return;
    int v[8];
#pragma unroll
    for (int line = 0; line < 4; ++line) {
        const int row = (2 * z + line / 2) * 2 * height + 2 * y + line % 2;
        const short2 pair = volume[static_cast<size_t>(row) * width + x];
        v[2 * line] = pair.x;
        v[2 * line + 1] = pair.y;
    }
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            if ((k & bit) == 0) {
                const int a = v[k], b = v[k | bit];
                v[k] = a + b;
                v[k | bit] = a - b;
            }
        }
    }
    const size_t cubes = static_cast<size_t>(depth) * height * width;
    const size_t cube = (static_cast<size_t>(z) * height + y) * width + x;
#pragma unroll
    for (int band = 0; band < 8; ++band) bands[band * cubes + cube] = v[band];
}

static void fail(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected a file of %zu bytes\n", path, bytes);
        exit(EXIT_FAILURE);
    }
    fclose(file);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    for (int side : sizes) {
        if (side < 1 || side > kMaxSide) fail("data/sizes.bin: a side is out of range");
    }
    const int depth = sizes[0], height = sizes[1], width = sizes[2];
    const size_t voxels = 8 * static_cast<size_t>(depth) * height * width;
    std::vector<int16_t> volume(voxels);
    readFile("data/volume.bin", volume.data(), voxels * sizeof(int16_t));

    short2* dVolume;
    int* dBands;
    check(cudaMalloc(&dVolume, voxels * sizeof(int16_t)));
    check(cudaMalloc(&dBands, voxels * sizeof(int)));
    check(cudaMemcpy(dVolume, volume.data(), voxels * sizeof(int16_t), cudaMemcpyHostToDevice));
    const dim3 grid((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY, depth);
    octants<<<grid, dim3(kBlockX, kBlockY)>>>(dVolume, dBands, depth, height, width);
    check(cudaGetLastError());
    std::vector<int> bands(voxels);
    check(cudaMemcpy(bands.data(), dBands, voxels * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(dVolume));
    check(cudaFree(dBands));

    FILE* out = fopen("data/bands.bin", "wb");
    if (!out || fwrite(bands.data(), sizeof(int), voxels, out) != voxels) fail("data/bands.bin: cannot be written");
    if (fclose(out) != 0) fail("data/bands.bin: cannot be closed");
    return EXIT_SUCCESS;
}
