#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kWide = 32, kHigh = 8;
constexpr int kUnit = 256;  // positions per cell

__device__ uint32_t hashOf(int cx, int cy, uint32_t seed) {
    uint32_t h = static_cast<uint32_t>(cx) * 0x8DA6B343u + static_cast<uint32_t>(cy) * 0xD8163841u + seed;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return h ^ h >> 15;
}

__global__ void __launch_bounds__(kWide* kHigh)
    worley(int height, int width, int step, uint32_t seed, int2 origin, int* __restrict__ nearest,
           int* __restrict__ gap, uint32_t* __restrict__ cell) {
    __shared__ uint32_t hashes[kHigh + 2][kWide + 2];
    const int firstX = ((origin.x + step * static_cast<int>(blockIdx.x) * kWide) >> 8) - 1;
    const int firstY = ((origin.y + step * static_cast<int>(blockIdx.y) * kHigh) >> 8) - 1;
    for (int i = threadIdx.y * kWide + threadIdx.x; i < (kWide + 2) * (kHigh + 2); i += kWide * kHigh) {
        const int column = i % (kWide + 2), row = i / (kWide + 2);
        hashes[row][column] = hashOf(firstX + column, firstY + row, seed);
    }
    __syncthreads();

    const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
    if (x >= width || y >= height) return;
    const int px = origin.x + step * x, py = origin.y + step * y;
    const int cx = px >> 8, cy = py >> 8;
    int best = 1 << 30, second = 1 << 30;
    uint32_t owner = 0;
    for (int ny = cy - 1; ny <= cy + 1; ++ny) {
        for (int nx = cx - 1; nx <= cx + 1; ++nx) {
            const uint32_t h = hashes[ny - firstY][nx - firstX];
            const int dx = kUnit * nx + static_cast<int>(h & 255) - px;
            const int dy = kUnit * ny + static_cast<int>(h >> 8 & 255) - py;
            const int d = dx * dx + dy * dy;
            if (d < best) {
                second = best;
                best = d;
                owner = h;
            } else {
                second = min(second, d);
            }
        }
    }
    const size_t i = static_cast<size_t>(y) * width + x;
    nearest[i] = best;
    gap[i] = second - best;
    cell[i] = owner;
}

void stop(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(2);
}

void check(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

void readInts(const char* path, int* values, size_t count) {
    FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values, sizeof(int), count, file) != count || std::fgetc(file) != EOF) stop(path);
    std::fclose(file);
}

template <typename T>
struct Plane {
    T* data = nullptr;
    size_t count;

    explicit Plane(size_t n) : count(n) { check(cudaMalloc(&data, n * sizeof(T))); }
    ~Plane() { cudaFree(data); }
    Plane(const Plane&) = delete;

    void write(const char* path) const {
        std::vector<T> host(count);
        check(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        FILE* file = std::fopen(path, "wb");
        if (!file || std::fwrite(host.data(), sizeof(T), count, file) != count || std::fclose(file) != 0) stop(path);
    }
};

}  // namespace

int main() {
    int sizes[4], origin[2];
    readInts("data/sizes.bin", sizes, 4);
    readInts("data/origin.bin", origin, 2);
    const int limits[4] = {8192, 8192, 256, 2147483647};
    for (int i = 0; i < 4; ++i) {
        if (sizes[i] < 1 || sizes[i] > limits[i]) stop("data/sizes.bin: a size is out of range");
    }
    for (int place : origin) {
        if (place < -1000000 || place > 1000000) stop("data/origin.bin: out of range");
    }
    const int height = sizes[0], width = sizes[1];
    const size_t pixels = static_cast<size_t>(height) * width;
    Plane<int> nearest(pixels), gap(pixels);
    Plane<uint32_t> cell(pixels);
    const dim3 threads(kWide, kHigh), blocks((width + kWide - 1) / kWide, (height + kHigh - 1) / kHigh);
    worley<<<blocks, threads>>>(height, width, sizes[2], static_cast<uint32_t>(sizes[3]),
                                make_int2(origin[0], origin[1]), nearest.data, gap.data, cell.data);
    check(cudaGetLastError());
    nearest.write("data/nearest.bin");
    gap.write("data/gap.bin");
    cell.write("data/cell.bin");
    return 0;
}
