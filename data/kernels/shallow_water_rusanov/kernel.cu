#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <utility>

constexpr int kMaxSide = 4096, kMaxSteps = 500;
constexpr int kBlockX = 32, kBlockY = 8;
constexpr float kRatio = 0.2f;  // time step over cell size; the acceleration of gravity is 1

// Depth and the two components of momentum.
struct Water {
    float depth, x, y;
};

struct Fields {
    float *depth, *x, *y;
};

// Rusanov flux through a face normal to x: the mean of the physical fluxes, less upwinding by the fastest wave.
__device__ __forceinline__ Water faceFlux(Water a, Water b) {
    const float ua = a.x / a.depth, ub = b.x / b.depth;
    const float speed = fmaxf(fabsf(ua) + sqrtf(a.depth), fabsf(ub) + sqrtf(b.depth));
    const float pressure = a.x * ua + b.x * ub + 0.5f * (a.depth * a.depth + b.depth * b.depth);
    return {0.5f * (a.x + b.x - speed * (b.depth - a.depth)), 0.5f * (pressure - speed * (b.x - a.x)),
            0.5f * (a.y * ua + b.y * ub - speed * (b.y - a.y))};
}

__device__ __forceinline__ Water turn(Water w) { return {w.depth, w.y, w.x}; }

// The state of a cell; beyond a wall stands its mirror image, with the momentum towards the wall reversed.
__device__ __forceinline__ Water fetch(Fields f, int y, int x, int ny, int nx) {
    const int k = min(max(y, 0), ny - 1) * nx + min(max(x, 0), nx - 1);
    const bool mirrorX = x < 0 || x >= nx, mirrorY = y < 0 || y >= ny;
    return {f.depth[k], mirrorX ? -f.x[k] : f.x[k], mirrorY ? -f.y[k] : f.y[k]};
}

__global__ void waterStep(Fields now, Fields next, int ny, int nx) {
    __shared__ Water tile[kBlockY + 2][kBlockX + 2];
    const int x0 = blockIdx.x * kBlockX, y0 = blockIdx.y * kBlockY;
    for (int e = threadIdx.y * kBlockX + threadIdx.x; e < (kBlockY + 2) * (kBlockX + 2); e += kBlockX * kBlockY) {
        const int ty = e / (kBlockX + 2), tx = e % (kBlockX + 2);
        tile[ty][tx] = fetch(now, y0 + ty - 1, x0 + tx - 1, ny, nx);
    }
    __syncthreads();

    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const Water own = tile[ty][tx];
    const Water west = faceFlux(tile[ty][tx - 1], own), east = faceFlux(own, tile[ty][tx + 1]);
    const Water south = turn(faceFlux(turn(tile[ty - 1][tx]), turn(own)));
    const Water north = turn(faceFlux(turn(own), turn(tile[ty + 1][tx])));
    const int k = y * nx + x;
    next.depth[k] = own.depth - kRatio * (east.depth - west.depth + north.depth - south.depth);
    next.x[k] = own.x - kRatio * (east.x - west.x + north.x - south.x);
    next.y[k] = own.y - kRatio * (east.y - west.y + north.y - south.y);
}

static void fail(const char* where, const char* what) {
    std::cerr << where << ": " << what << '\n';
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(step, cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path, "missing, or not of the expected length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path, "read error");
}

static void writeBytes(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(source), bytes);
    out.close();
    if (!out) fail(path, "write error");
}

static Fields allocateManaged(size_t bytes) {
    Fields fields;
    for (float** array : {&fields.depth, &fields.x, &fields.y}) check(cudaMallocManaged(array, bytes), "allocation");
    return fields;
}

int main() {
    int sizes[3];
    readBytes("data/sizes.bin", sizes, sizeof(sizes));
    const int ny = sizes[0], nx = sizes[1], steps = sizes[2];
    if (ny < 1 || ny > kMaxSide || nx < 1 || nx > kMaxSide || steps < 1 || steps > kMaxSteps) {
        fail("data/sizes.bin", "a size is out of range");
    }
    const size_t bytes = static_cast<size_t>(ny) * nx * sizeof(float);
    Fields now = allocateManaged(bytes), next = allocateManaged(bytes);
    readBytes("data/depth.bin", now.depth, bytes);
    readBytes("data/momentum_x.bin", now.x, bytes);
    readBytes("data/momentum_y.bin", now.y, bytes);

    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((nx + kBlockX - 1) / kBlockX, (ny + kBlockY - 1) / kBlockY);
    for (int step = 0; step < steps; ++step) {
        waterStep<<<grid, block>>>(now, next, ny, nx);
        check(cudaGetLastError(), "waterStep");
        std::swap(now, next);
    }
    check(cudaDeviceSynchronize(), "waterStep");  // before the host touches managed memory again

    writeBytes("data/depth_out.bin", now.depth, bytes);
    writeBytes("data/momentum_x_out.bin", now.x, bytes);
    writeBytes("data/momentum_y_out.bin", now.y, bytes);
    for (float* array : {now.depth, now.x, now.y, next.depth, next.x, next.y}) check(cudaFree(array), "cudaFree");
    return EXIT_SUCCESS;
}
