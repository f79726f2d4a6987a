#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kTile = 32, kSide = 16, kMaxWidth = 64, kMaxScales = 8;
constexpr int kThreads = kSide * kSide;

struct Gammas {
    float value[kMaxScales];
    int count;
};

__device__ void loadTile(float (*tile)[kMaxWidth + 1], const half2* points, int first, int count, int width) {
    const int pairs = width / 2;
    for (int k = threadIdx.x; k < kTile * pairs; k += kThreads) {
        const int row = k / pairs, col = k % pairs;
        if (first + row >= count) continue;
        const float2 two = __half22float2(points[static_cast<size_t>(first + row) * pairs + col]);
        tile[row][2 * col] = two.x;
        tile[row][2 * col + 1] = two.y;
    }
}

// Sums of exp(-gamma * distance^2) over the pairs of a tile. blockIdx.z: 0 x with x, 1 y with y, 2 x with y.
__global__ void tileSums(const half2* __restrict__ x, const half2* __restrict__ y, int xs, int ys, int width,
                         Gammas gammas, double* __restrict__ partial) {
    __shared__ float tileA[kTile][kMaxWidth + 1], tileB[kTile][kMaxWidth + 1];
    __shared__ double warpSums[kThreads / 32][kMaxScales];
    const bool within = blockIdx.z < 2;
    const half2* a = blockIdx.z == 1 ? y : x;
    const half2* b = blockIdx.z == 0 ? x : y;
    const int countA = blockIdx.z == 1 ? ys : xs, countB = blockIdx.z == 0 ? xs : ys;
    const int firstA = blockIdx.y * kTile, firstB = blockIdx.x * kTile;
    const size_t block = (static_cast<size_t>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    double* out = partial + block * gammas.count;
    if (firstA >= countA || firstB >= countB || (within && blockIdx.x < blockIdx.y)) {
        if (threadIdx.x < gammas.count) out[threadIdx.x] = 0.0;
        return;
    }
    loadTile(tileA, a, firstA, countA, width);
    loadTile(tileB, b, firstB, countB, width);
    __syncthreads();

    const int row = threadIdx.x / kSide, col = threadIdx.x % kSide;
    float square[2][2] = {};
    for (int d = 0; d < width; ++d) {
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                const float gap = tileA[row + kSide * i][d] - tileB[col + kSide * j][d];
                square[i][j] += gap * gap;
            }
        }
    }
    for (int s = 0; s < gammas.count; ++s) {
        double sum = 0.0;
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                const int p = firstA + row + kSide * i, q = firstB + col + kSide * j;
                const bool counts = p < countA && q < countB && (!within || p < q);
                if (counts) sum += expf(-gammas.value[s] * square[i][j]);
            }
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (threadIdx.x % 32 == 0) warpSums[threadIdx.x / 32][s] = sum;
    }
    __syncthreads();
    if (threadIdx.x < gammas.count) {
        double sum = 0.0;
        for (int w = 0; w < kThreads / 32; ++w) sum += warpSums[w][threadIdx.x];
        out[threadIdx.x] = sum;
    }
}

// Block (scale, kind) adds the partial sums of its kind.
__global__ void addTiles(const double* __restrict__ partial, size_t tiles, int scales, double* sums) {
    __shared__ double part[kThreads];
    double sum = 0.0;
    const double* mine = partial + blockIdx.y * tiles * scales + blockIdx.x;
    for (size_t k = threadIdx.x; k < tiles; k += kThreads) sum += mine[k * scales];
    part[threadIdx.x] = sum;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x * 3 + blockIdx.y] = part[0];
}

static void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static void readFile(const char* path, void* values, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    require(file && std::fread(values, 1, bytes, file) == bytes && std::fgetc(file) == EOF, path);
    std::fclose(file);
}

static half2* readPoints(const char* path, int count, int width) {
    std::vector<uint16_t> bits(static_cast<size_t>(count) * width);
    readFile(path, bits.data(), bits.size() * sizeof(uint16_t));
    half2* device = nullptr;
    check(cudaMalloc(&device, bits.size() * sizeof(uint16_t)));
    check(cudaMemcpy(device, bits.data(), bits.size() * sizeof(uint16_t), cudaMemcpyHostToDevice));
    return device;
}

static void writeFile(const char* path, const std::vector<double>& values) {
    std::FILE* file = std::fopen(path, "wb");
    require(file && std::fwrite(values.data(), sizeof(double), values.size(), file) == values.size(), path);
    require(std::fclose(file) == 0, path);
}

int main() {
    int32_t sizes[4];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int xs = sizes[0], ys = sizes[1], width = sizes[2], scales = sizes[3];
    require(xs >= 2 && xs <= 16384 && ys >= 2 && ys <= 16384, "number of points");
    require(width >= 2 && width <= kMaxWidth && width % 2 == 0, "width");
    require(scales >= 1 && scales <= kMaxScales, "scales");
    Gammas gammas = {};
    gammas.count = scales;
    readFile("data/gammas.bin", gammas.value, scales * sizeof(float));
    half2* x = readPoints("data/x.bin", xs, width);
    half2* y = readPoints("data/y.bin", ys, width);

    const unsigned side = (std::max(xs, ys) + kTile - 1) / kTile;
    const size_t tiles = static_cast<size_t>(side) * side;
    double *partial, *sums;
    check(cudaMalloc(&partial, 3 * tiles * scales * sizeof(double)));
    check(cudaMalloc(&sums, 3 * scales * sizeof(double)));
    tileSums<<<dim3(side, side, 3), kThreads>>>(x, y, xs, ys, width, gammas, partial);
    check(cudaGetLastError());
    addTiles<<<dim3(scales, 3), kThreads>>>(partial, tiles, scales, sums);
    check(cudaGetLastError());
    std::vector<double> means(3 * scales), mmd(scales);
    check(cudaMemcpy(means.data(), sums, means.size() * sizeof(double), cudaMemcpyDeviceToHost));
    for (int s = 0; s < scales; ++s) {
        means[3 * s] /= 0.5 * xs * (xs - 1.0);  // each pair was counted once
        means[3 * s + 1] /= 0.5 * ys * (ys - 1.0);
        means[3 * s + 2] /= static_cast<double>(xs) * ys;
        mmd[s] = means[3 * s] + means[3 * s + 1] - 2.0 * means[3 * s + 2];
    }
    check(cudaFree(x));
    check(cudaFree(y));
    check(cudaFree(partial));
    check(cudaFree(sums));
    writeFile("data/means.bin", means);
    writeFile("data/mmd.bin", mmd);
    return EXIT_SUCCESS;
}
