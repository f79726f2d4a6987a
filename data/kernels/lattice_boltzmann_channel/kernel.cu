#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

__constant__ int DX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int DY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float WEIGHT[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

// Populations are stored less their weights: what remains is small, and a float keeps its digits.
struct Moments {
    float excess, ux, uy;  // excess: density - 1
};

__device__ Moments momentsOf(const float (&f)[9]) {
    Moments m{0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        m.excess += f[k];
        m.ux += DX[k] * f[k];
        m.uy += DY[k] * f[k];
    }
    m.ux /= 1.0f + m.excess;
    m.uy /= 1.0f + m.excess;
    return m;
}

__global__ void collideAndStream(const float* __restrict__ from, float* __restrict__ to,
                                 const uint8_t* __restrict__ solid, float force, float tau, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int cells = height * width, here = y * width + x;
    if (solid[here]) return;
    float f[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        int sx = x - DX[k], sy = y - DY[k];
        sx = sx < 0 ? width - 1 : sx == width ? 0 : sx;
        sy = sy < 0 ? height - 1 : sy == height ? 0 : sy;
        const int source = sy * width + sx;
        f[k] = solid[source] ? from[OPPOSITE[k] * cells + here] : from[k * cells + source];
    }
    const Moments m = momentsOf(f);
    const float ux = m.ux + tau * force, uy = m.uy, square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const float along = 3.0f * (DX[k] * ux + DY[k] * uy);
        const float change = along + 0.5f * along * along - square;
        const float equilibrium = WEIGHT[k] * (m.excess + (1.0f + m.excess) * change);
        to[k * cells + here] = f[k] + (equilibrium - f[k]) / tau;
    }
}

__global__ void observe(const float* __restrict__ from, const uint8_t* __restrict__ solid, float* __restrict__ density,
                        float* __restrict__ velocity, int cells) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    float f[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) f[k] = from[k * cells + i];
    const Moments m = momentsOf(f);
    const bool fluid = solid[i] == 0;
    density[i] = fluid ? 1.0f + m.excess : 0.0f;
    velocity[i] = fluid ? m.ux : 0.0f;
    velocity[cells + i] = fluid ? m.uy : 0.0f;
}

static void check(cudaError_t status, const std::string& what) {
    if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool exact = file && fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) throw std::runtime_error(std::string(path) + ": wrong length");
}

static void writeFromDevice(const char* path, const float* device, size_t count) {
    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost), path);
    FILE* file = fopen(path, "wb");
    const bool written = file && fwrite(host.data(), sizeof(float), count, file) == count;
    if (!file || fclose(file) != 0 || !written) throw std::runtime_error(std::string(path) + ": not written");
}

static void run() {
    int sizes[3];
    readBytes("data/sizes.bin", sizes, sizeof sizes);
    const int height = sizes[0], width = sizes[1], steps = sizes[2];
    if (height < 2 || height > 1024 || width < 2 || width > 1024 || steps < 1 || steps > 2000) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const int cells = height * width;
    std::vector<uint8_t> solid(cells);
    float drive[2];
    readBytes("data/solid.bin", solid.data(), cells);
    readBytes("data/drive.bin", drive, sizeof drive);

    float *from, *to, *density, *velocity;
    uint8_t* dSolid;
    const size_t bytes = cells * sizeof(float);
    check(cudaMalloc(&from, 9 * bytes), "populations");
    check(cudaMalloc(&to, 9 * bytes), "populations");
    check(cudaMalloc(&density, bytes), "density");
    check(cudaMalloc(&velocity, 2 * bytes), "velocity");
    check(cudaMalloc(&dSolid, cells), "solid");
    check(cudaMemset(from, 0, 9 * bytes), "start");  // at rest: every population is its weight
    check(cudaMemset(to, 0, 9 * bytes), "start");
    check(cudaMemcpy(dSolid, solid.data(), cells, cudaMemcpyHostToDevice), "solid");
    const dim3 block(64, 4), grid((width + 63) / 64, (height + 3) / 4);
    for (int step = 0; step < steps; ++step) {
        collideAndStream<<<grid, block>>>(from, to, dSolid, drive[0], drive[1], height, width);
        std::swap(from, to);
    }
    observe<<<(cells + 255) / 256, 256>>>(from, dSolid, density, velocity, cells);
    check(cudaGetLastError(), "launch");
    writeFromDevice("data/density.bin", density, cells);
    writeFromDevice("data/velocity.bin", velocity, 2 * static_cast<size_t>(cells));
    for (float* pointer : {from, to, density, velocity}) check(cudaFree(pointer), "free");
    check(cudaFree(dSolid), "free");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
