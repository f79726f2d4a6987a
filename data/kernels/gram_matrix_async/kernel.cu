#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int TILE = 32;  // features per tile side, and samples per slice
constexpr int ROWS = 8;   // thread rows per block
constexpr int PER = TILE / ROWS;

__device__ void copySlice(float (*tile)[TILE], const float* X, int samples, int features, int firstSample,
                          int firstFeature) {
    const int column = firstFeature + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        const int sample = firstSample + r;
        const bool inside = sample < samples && column < features;
        const float* source = inside ? X + static_cast<size_t>(sample) * features + column : X;
        __pipeline_memcpy_async(&tile[r][threadIdx.x], source, sizeof(float), inside ? 0 : sizeof(float));
    }
}

__global__ void gramTiles(const float* __restrict__ X, float* __restrict__ G, int samples, int features) {
    __shared__ float left[2][TILE][TILE], right[2][TILE][TILE];
    __shared__ float mirror[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int t = blockIdx.x;
    int tileRow = static_cast<int>((sqrtf(8.0f * t + 1.0f) - 1.0f) * 0.5f);
    while (tileRow * (tileRow + 1) / 2 > t) --tileRow;
    while ((tileRow + 1) * (tileRow + 2) / 2 <= t) ++tileRow;
    const int tileCol = t - tileRow * (tileRow + 1) / 2;
    const int row0 = tileRow * TILE, col0 = tileCol * TILE;

    float sum[PER] = {};
    const int slices = (samples + TILE - 1) / TILE;
    copySlice(left[0], X, samples, features, 0, row0);
    copySlice(right[0], X, samples, features, 0, col0);
    __pipeline_commit();
    for (int s = 0; s < slices; ++s) {
        const int now = s % 2;
        if (s + 1 < slices) {
            copySlice(left[1 - now], X, samples, features, (s + 1) * TILE, row0);
            copySlice(right[1 - now], X, samples, features, (s + 1) * TILE, col0);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const float b = right[now][k][tx];
#pragma unroll
            for (int i = 0; i < PER; ++i) sum[i] += left[now][k][ty + ROWS * i] * b;
        }
        __syncthreads();  // the next round overwrites this half
    }

#pragma unroll
    for (int i = 0; i < PER; ++i) {
        const int row = row0 + ty + ROWS * i, col = col0 + tx;
        mirror[ty + ROWS * i][tx] = sum[i];
        if (row < features && col < features) G[static_cast<size_t>(row) * features + col] = sum[i];
    }
    if (tileRow == tileCol) return;  // the whole block
    __syncthreads();
#pragma unroll
    for (int i = 0; i < PER; ++i) {
        const int row = col0 + ty + ROWS * i, col = row0 + tx;
        if (row < features && col < features) {
            G[static_cast<size_t>(row) * features + col] = mirror[tx][ty + ROWS * i];
        }
    }
}

static void require(bool condition, const char* message) {
    if (!condition) {
        fprintf(stderr, "%s\n", message);
        exit(EXIT_FAILURE);
    }
}

static void checkCuda(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static void readExactly(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    require(file != nullptr, path);
    const bool exact = fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    fclose(file);
    require(exact, "an input file has the wrong length");
}

int main() {
    int sizes[2];
    readExactly("data/sizes.bin", sizes, sizeof(sizes));
    const int samples = sizes[0], features = sizes[1];
    require(samples >= 1 && samples <= 65536, "samples must be in 1..65536");
    require(features >= 1 && features <= 4096, "features must be in 1..4096");

    std::vector<float> hostX(static_cast<size_t>(samples) * features);
    std::vector<float> hostG(static_cast<size_t>(features) * features);
    const size_t bytesX = hostX.size() * sizeof(float), bytesG = hostG.size() * sizeof(float);
    readExactly("data/X.bin", hostX.data(), bytesX);

    float *X, *G;
    checkCuda(cudaMalloc(&X, bytesX));
    checkCuda(cudaMalloc(&G, bytesG));
    checkCuda(cudaMemcpy(X, hostX.data(), bytesX, cudaMemcpyHostToDevice));
    const int tiles = (features + TILE - 1) / TILE;
    gramTiles<<<tiles * (tiles + 1) / 2, dim3(TILE, ROWS)>>>(X, G, samples, features);
    checkCuda(cudaGetLastError());
    checkCuda(cudaMemcpy(hostG.data(), G, bytesG, cudaMemcpyDeviceToHost));
    checkCuda(cudaFree(X));
    checkCuda(cudaFree(G));

    FILE* out = fopen("data/G.bin", "wb");
    require(out != nullptr, "data/G.bin cannot be created");
    const bool complete = fwrite(hostG.data(), 1, bytesG, out) == bytesG;
    require(fclose(out) == 0 && complete, "data/G.bin cannot be written");
    return EXIT_SUCCESS;
}
