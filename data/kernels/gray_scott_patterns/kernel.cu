#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct Rates {
    float spreadU, spreadV, feed, kill;
};

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                       \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

__device__ __forceinline__ float2 react(float2 here, float2 near, Rates r) {
    const float reaction = here.x * here.y * here.y;
    const float u = r.spreadU * (near.x - 4.0f * here.x) - reaction + r.feed * (1.0f - here.x);
    const float v = r.spreadV * (near.y - 4.0f * here.y) + reaction - (r.feed + r.kill) * here.y;
    return make_float2(here.x + u, here.y + v);
}

constexpr int BX = 32, BY = 8;

__global__ void step(const float2* __restrict__ from, float2* __restrict__ to, Rates rates, int height, int width) {
    __shared__ float2 tile[BY + 2][BX + 2];
    const int left = blockIdx.x * BX - 1, top = blockIdx.y * BY - 1;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BY + 2) * (BX + 2); i += BX * BY) {
        const int ty = i / (BX + 2), tx = i % (BX + 2);
        const int y = (top + ty + height) % height, x = (left + tx + width) % width;
        tile[ty][tx] = from[y * width + x];
    }
    __syncthreads();
    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height) return;
    const float2(*t)[BX + 2] = &tile[threadIdx.y];
    const int c = threadIdx.x + 1;
    const float2 a = t[0][c], b = t[2][c], d = t[1][c - 1], e = t[1][c + 1];
    // Close to the lower right edge the tile wraps more than once, but the points used here are always the right ones.
    to[y * width + x] = react(t[1][c], make_float2(a.x + b.x + d.x + e.x, a.y + b.y + d.y + e.y), rates);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int height = sizes[0], width = sizes[1], steps = sizes[2];
    if (height < 1 || height > 2048 || width < 1 || width > 2048 || steps < 1 || steps > 2000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<float2> field(static_cast<size_t>(height) * width);
    Rates rates;
    readFile("data/start.bin", field.data(), field.size() * sizeof(float2));
    readFile("data/rates.bin", &rates, sizeof rates);
    const size_t bytes = field.size() * sizeof(float2);
    float2 *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemcpy(from, field.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    for (int i = 0; i < steps; ++i) {
        step<<<grid, block>>>(from, to, rates, height, width);
        std::swap(from, to);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(field.data(), from, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    FILE* file = fopen("data/final.bin", "wb");
    if (!file || fwrite(field.data(), sizeof(float2), field.size(), file) != field.size()) return 1;
    return fclose(file) == 0 ? 0 : 1;
}
